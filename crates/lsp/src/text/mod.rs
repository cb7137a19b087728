//! Texts as editors see them: positions in the negotiated encoding, open documents, and addresses of
//! files.

mod address;
mod document;
mod line_map;

pub(crate) use address::{path_of, uri_of};
pub(crate) use document::Document;
pub(crate) use line_map::{LineMap, PositionEncoding};
