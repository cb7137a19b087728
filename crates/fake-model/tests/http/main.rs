//! The server over real HTTP on loopback.

mod client;
mod formats;
mod server;
