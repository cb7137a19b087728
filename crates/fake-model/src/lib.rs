//! A canned model server on loopback, for tests, benches and end-to-end scripts.
//!
//! It speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Gemini
//! `generateContent`, plain and streamed, well enough that real agents run the tool calls it makes. What it answers is a [`Script`]:
//! an ordered list of rules with a default at the end.
//!
//! ```
//! use fake_model::{FakeModel, Reply, Rule, Script};
//!
//! let script = Script::new()
//!     .rule(Rule::new(Reply::status(429).header("retry-after", "1")).times(1))
//!     .rule(Rule::new(Reply::text("Paris")).when("capital of France"))
//!     .otherwise(Reply::text("I do not know."));
//! let server = FakeModel::start(script);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! ```

mod answer;
mod body;
mod record;
mod reply;
mod script;
mod server;
mod turn;
mod wire;

pub use record::{Keep, Request};
pub use reply::{Reply, ToolCall, Usage};
pub use script::{Rule, Script};
pub use server::{FakeModel, Options};
