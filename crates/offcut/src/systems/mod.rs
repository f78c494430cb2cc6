//! The five documented systems, each under the names of its document, on the one engine.
//!
//! | document | module | profile |
//! |---|---|---|
//! | 000, Coding Agent 截断系统实现设计 | [`coding_agent`] | `coding-agent` |
//! | 001, OpenCode 输出截断机制 | [`opencode`] | `opencode` |
//! | 002, 工具输出截断设计文档（统一策略） | [`unified`] | `unified` |
//! | 003, Truncation 插件化重构 | [`takumi`] | `takumi` |
//! | 004, Smart Truncation Strategy Implementation Plan | [`klaude`] | `klaude` |
//!
//! Each module is a profile, the document's names, and adapters: what is cut, stored and written is the engine's.

pub mod coding_agent;
pub mod klaude;
pub mod opencode;
pub mod takumi;
pub mod unified;

use crate::context::Context;
use crate::profile::Profile;
use crate::results::{Middleware, Shape, ShapeChoice};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A built-in profile.
fn profile(name: &str) -> Profile {
    Profile::named(name).unwrap_or_else(|error| unreachable!("the built-in profiles are tested: {error}"))
}

/// Bounds a result that is a Rust value: its JSON is bounded, and read back.
fn bound<T: Serialize + DeserializeOwned>(
    middleware: &Middleware,
    shape: Shape,
    value: T,
    context: &Context,
) -> T {
    let bounded = |json: String| {
        let bounded = middleware.bound_json(&json, ShapeChoice::Is(shape), context).ok()?;
        serde_json::from_str(&bounded.json).ok()
    };
    // The types of this module have only text and JSON values in them, so they can always be written and read.
    serde_json::to_string(&value).ok().and_then(bounded).unwrap_or(value)
}
