//! Tests of the binary in the way that a user runs it.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod crash;
mod damage;
mod doctor;
mod erased;
mod import;
mod import_formats;
mod import_messages;
mod journey;
mod keys;
mod logs;
mod long_texts;
mod mcp;
mod organised;
mod output;
mod readme;
mod receipts;
mod records;
mod restore;
mod retries;
mod scripted_server;
#[expect(dead_code, reason = "shared with the benches, which use other parts")]
mod server;
mod start;
mod tags;
mod terminal;
mod upgrade;
mod versions;
mod write_only_keys;
