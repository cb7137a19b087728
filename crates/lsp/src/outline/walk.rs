//! Visits every mapping, entry and item of a tree with the table that it is read by.

use evalrig_core::syntax::fields::{Field, Shape};
use evalrig_core::syntax::{Kind, Node};

use super::grammar::{MappingTables, item_of, tables_of};

/// One place of a tree.
#[derive(Debug)]
pub(crate) enum Visit<'v, 't> {
    /// A mapping, before its entries.
    Mapping { node: Node<'t>, tables: &'v MappingTables },
    /// A key and its value.
    Entry {
        mapping: Node<'t>,
        tables: &'v MappingTables,
        key: Node<'t>,
        value: Node<'t>,
        /// Of the key, if a table has it.
        field: Option<&'static Field>,
        shape: Shape,
    },
    /// An item of a sequence, with the field that the sequence is the value of.
    Item { node: Node<'t>, field: Option<&'static Field>, shape: Shape },
}

/// Depth is that of the parser, and what is behind an alias is visited where it is written.
pub(super) fn walk<'t>(
    shape: Shape,
    node: Node<'t>,
    field: Option<&'static Field>,
    visit: &mut dyn FnMut(&Visit<'_, 't>),
) {
    if node.is_alias() {
        return;
    }
    match node.kind() {
        Kind::Mapping => {
            let tables = tables_of(shape, node);
            visit(&Visit::Mapping { node, tables: &tables });
            for (key, value) in node.written_entries() {
                let name = key.scalar_text().unwrap_or_default();
                let (field, shape) = (tables.field(name), tables.value_shape(name));
                visit(&Visit::Entry { mapping: node, tables: &tables, key, value, field, shape });
                walk(shape, value, field, visit);
            }
        }
        Kind::Sequence => {
            let shape = item_of(shape);
            for item in node.items() {
                visit(&Visit::Item { node: item, field, shape });
                walk(shape, item, field, visit);
            }
        }
        Kind::Scalar => {}
    }
}
