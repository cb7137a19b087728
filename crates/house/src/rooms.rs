//! Which room uses which. A room is a top-level module; an edge is a path that leaves it, through
//! `crate::`, `super::` or a re-export of the crate root.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::token::{Token, closing};
use crate::{SourceFile, Sources};

/// One room uses another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: String,
    pub to: String,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.from, self.to)
    }
}

#[derive(Debug, Default)]
pub struct RoomGraph {
    pub rooms: BTreeSet<String>,
    /// Each edge with the files that make it.
    pub edges: BTreeMap<Edge, BTreeSet<String>>,
}

impl RoomGraph {
    pub(crate) fn of(sources: &Sources) -> Self {
        let rooms: BTreeSet<String> = sources
            .shipped()
            .map(|file| file.room().to_owned())
            .filter(|room| !room.is_empty())
            .collect();
        let mut graph = Self { rooms, edges: BTreeMap::new() };
        let root: Vec<Vec<String>> = sources
            .shipped()
            .filter(|file| file.room().is_empty())
            .flat_map(|file| Paths::of(file).found)
            .collect();
        for file in sources.shipped().filter(|file| !file.room().is_empty()) {
            for path in Paths::of(file).found {
                let from = file.room().to_owned();
                let Some(to) = graph.room_of(&path, &root).filter(|to| *to != from) else {
                    continue;
                };
                let files = graph.edges.entry(Edge { from, to }).or_default();
                files.insert(file.path.clone());
            }
        }
        graph
    }

    /// The room that a path below `crate` leads to, directly or through a `use` of the crate root.
    fn room_of(&self, path: &[String], root: &[Vec<String>]) -> Option<String> {
        let first = path.first()?;
        if self.rooms.contains(first) {
            return Some(first.clone());
        }
        let through = root.iter().find(|path| path.last() == Some(first));
        let room = through?.first()?;
        self.rooms.contains(room).then(|| room.clone())
    }

    /// The groups of rooms that use each other in a circle, without the edges `except`.
    pub fn cycles(&self, except: &[&str]) -> Vec<Vec<&str>> {
        let kept: Vec<&Edge> =
            self.edges.keys().filter(|edge| !except.contains(&edge.to_string().as_str())).collect();
        let reached = |start: &str| {
            let mut found = BTreeSet::new();
            let mut left = vec![start.to_owned()];
            while let Some(room) = left.pop() {
                for edge in kept.iter().filter(|edge| edge.from == room) {
                    if found.insert(edge.to.clone()) {
                        left.push(edge.to.clone());
                    }
                }
            }
            found
        };
        let reached: BTreeMap<&str, BTreeSet<String>> =
            self.rooms.iter().map(|room| (room.as_str(), reached(room))).collect();
        let mut cycles: Vec<Vec<&str>> = Vec::new();
        for (room, from_here) in &reached {
            let circle: Vec<&str> = reached
                .iter()
                .filter(|(other, from_there)| {
                    from_here.contains(**other) && from_there.contains(*room)
                })
                .map(|(other, _)| *other)
                .collect();
            if !circle.is_empty() && !cycles.contains(&circle) {
                cycles.push(circle);
            }
        }
        cycles
    }

    /// What a room uses.
    pub fn uses_of(&self, room: &str) -> Vec<&str> {
        let edges = self.edges.keys().filter(|edge| edge.from == room);
        edges.map(|edge| edge.to.as_str()).collect()
    }
}

/// The paths of a file that begin at the root of the crate.
struct Paths<'a> {
    tokens: Vec<Token<'a>>,
    found: Vec<Vec<String>>,
}

impl<'a> Paths<'a> {
    fn of(file: &'a SourceFile) -> Self {
        let mut paths = Self { tokens: file.tokens(), found: Vec::new() };
        let mut module = file.module_path();
        // Where the inline modules end that enclose the current token.
        let mut ends = Vec::new();
        for at in 0..paths.tokens.len() {
            if ends.last() == Some(&at) {
                ends.pop();
                module.pop();
            }
            let text = paths.tokens[at].text;
            let next = paths.text(at + 1);
            let is_behind_path = at > 0 && paths.text(at - 1) == "::";
            if text == "mod" && paths.text(at + 2) == "{" {
                module.push(next.to_owned());
                ends.push(closing(&paths.tokens, at + 2));
            } else if next == "::" && !is_behind_path {
                match text {
                    "crate" => paths.follow(Vec::new(), at + 2),
                    "super" | "self" => paths.follow(module.clone(), at),
                    // In the crate root, a room is in scope.
                    _ if module.is_empty() => paths.follow(Vec::new(), at),
                    _ => {}
                }
            }
        }
        paths
    }

    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Follows a path or a tree of paths from token `at`; `base` is where it has come to.
    fn follow(&mut self, mut base: Vec<String>, mut at: usize) {
        loop {
            match self.text(at) {
                "{" => {
                    let end = closing(&self.tokens, at);
                    let mut branch = at + 1;
                    while branch < end {
                        self.follow(base.clone(), branch);
                        while branch < end && self.text(branch) != "," {
                            if self.text(branch) == "{" {
                                branch = closing(&self.tokens, branch);
                            }
                            branch += 1;
                        }
                        branch += 1;
                    }
                    return;
                }
                "super" => drop(base.pop()),
                "self" => {}
                _ if self.tokens.get(at).is_some_and(Token::is_word) => {
                    base.push(self.text(at).to_owned());
                }
                _ => break,
            }
            if self.text(at + 1) != "::" {
                break;
            }
            at += 2;
        }
        self.found.push(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> RoomGraph {
        let owned = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Sources::from_texts(owned).room_graph()
    }

    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        graph(files).edges.keys().map(Edge::to_string).collect()
    }

    #[test]
    fn edges_are_found_in_every_kind_of_path() {
        let found = edges(&[
            ("a.rs", "use crate::{b::X, c::{self, Y}};"),
            ("b/mod.rs", "fn f() { crate::c::g(); super::d::h(); }"),
            ("b/x.rs", "use super::super::e::Z; use super::f; pub(in super::super) fn q() {}"),
            ("c.rs", "// crate::a\nconst T: &str = \"crate::a\";"),
            ("d.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
            ("e.rs", "mod inner { use super::super::a; use super::g; }"),
        ]);
        let expected = ["a -> b", "a -> c", "b -> c", "b -> d", "b -> e", "e -> a"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_reexport_of_the_root_is_an_edge_to_its_room() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b; pub use a::{X, inner::Y};"),
            ("a.rs", ""),
            ("b.rs", "use crate::Y;"),
        ]);
        assert_eq!(found, ["b -> a"]);
    }

    #[test]
    fn rooms_in_a_circle_are_one_cycle() {
        let graph = graph(&[
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use crate::c::X;"),
            ("c.rs", "use crate::a::X;"),
            ("d.rs", "use crate::a::X;"),
        ]);
        assert_eq!(graph.cycles(&[]), [["a", "b", "c"]]);
        assert!(graph.cycles(&["c -> a"]).is_empty());
    }
}
