//! Routes that answer: questions, hints, tools, and chats through the proxy.

pub(crate) mod mcp;
pub(crate) mod proxy;
pub(crate) mod query;
pub(crate) mod recall;
pub(crate) mod tools;
