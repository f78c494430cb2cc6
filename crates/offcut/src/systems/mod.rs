//! The five documented systems, each under the names of its document, on the one engine.
//!
//! | document | module | profile |
//! |---|---|---|
//! | 000, Coding Agent 截断系统实现设计 | [`coding_agent`] | `coding-agent` |
//! | 001, OpenCode 输出截断机制 | [`opencode`] | `opencode` |
//!
//! Each module is a profile, the document's names, and adapters: what is cut, stored and written is the engine's.

pub mod coding_agent;
pub mod opencode;
