//! `evalrig lsp` as a program, driven over its standard streams by a small client.
#![cfg(feature = "lsp")]

#[path = "../support/mod.rs"]
mod support;

mod client;
mod completing;
mod diagnosing;
mod navigating;
mod protocol;
mod results;
