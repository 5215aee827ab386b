//! The gateway through its routes, over the embedded stores, with small test services.

#![expect(clippy::unwrap_used, reason = "helpers of tests, where a panic is the report")]

mod access;
mod connections;
mod content;
mod cors;
mod curations;
mod dead_letters;
mod erasures;
mod events;
#[cfg(feature = "explorer")]
mod explorer;
mod facts;
mod fuzz;
mod harness;
mod idempotency;
mod keys;
mod labels;
mod lists;
mod mcp;
mod mem0;
mod messages;
mod openapi;
mod pages;
mod proxy;
mod query;
mod quotas;
mod readings;
mod rebuild;
mod recall;
mod records;
mod seal;
mod sessions;
mod spaces;
mod spans;
mod strategies;
mod tools;
mod units;
mod versions;
mod webhooks;
