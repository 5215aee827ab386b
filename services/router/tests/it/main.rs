//! Tests of the router through its public API: a small talk, questions, packs.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod anchors;
mod answered_questions;
mod blocks;
mod bounds;
mod decided;
mod derived;
mod encoded;
mod faulty_records;
mod favour;
mod filtered_tools;
mod gists;
mod gists_of_spaces;
mod growth;
mod instructions;
mod labelled;
mod long_records;
mod memory;
mod narrowed;
mod recall;
mod repeats;
mod selected;
mod shared_names;
mod speakers;
mod spent;
mod stalled;
mod stores;
mod talk;
mod tools;
mod wishes;
