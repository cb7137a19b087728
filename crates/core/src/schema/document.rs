//! A whole schema: the draft it is written for, its root and its definitions.

use crate::model::{Map, Value};
use crate::words;

use super::keyword::map;

words! {
    /// The drafts differ in two keywords only; keywords that changed their meaning are not used.
    pub enum Draft {
        D2020 = "2020-12",
        /// Expected by editors and older validators.
        D07 = "07",
    }
}

impl Draft {
    pub fn uri(self) -> &'static str {
        match self {
            Self::D2020 => "https://json-schema.org/draft/2020-12/schema",
            Self::D07 => "http://json-schema.org/draft-07/schema#",
        }
    }

    /// The key of the definitions.
    pub fn definitions(self) -> &'static str {
        match self {
            Self::D2020 => "$defs",
            Self::D07 => "definitions",
        }
    }

    /// `{"$ref": …}` to a definition of the same document.
    pub fn reference(self, name: &str) -> Value {
        map([("$ref", format!("#/{}/{name}", self.definitions()).as_str().into())])
    }
}

/// A schema under construction. Definitions keep the order they are added in.
#[derive(Debug)]
pub struct Document {
    draft: Draft,
    title: Option<&'static str>,
    description: &'static str,
    definitions: Map,
}

impl Document {
    pub fn new(draft: Draft, title: &'static str, description: &'static str) -> Self {
        Self { draft, title: Some(title), description, definitions: Map::new() }
    }

    /// Editors offer the title of a schema as a value.
    #[must_use]
    pub fn without_title(mut self) -> Self {
        self.title = None;
        self
    }

    /// What `Shape::Ref(name)` means.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, schema: Value) -> Self {
        self.definitions.insert(name, schema);
        self
    }

    /// The document with `root` as the schema of the file itself.
    pub fn finish(self, root: &Value) -> Value {
        let mut whole = Map::new();
        whole.insert("$schema", self.draft.uri());
        whole.insert_some("title", self.title);
        whole.insert("description", self.description);
        for (key, value) in root.as_map().into_iter().flat_map(Map::iter) {
            whole.insert(key, value.clone());
        }
        if !self.definitions.is_empty() {
            whole.insert(self.draft.definitions(), self.definitions);
        }
        whole.into()
    }
}
