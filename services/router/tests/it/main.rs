//! Tests of the router through its public API: a small talk, questions, packs.
#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod anchors;
mod blocks;
mod bounds;
mod decided;
mod derived;
mod encoded;
mod favour;
mod gists;
mod gists_of_spaces;
mod growth;
mod instructions;
mod labelled;
mod memory;
mod narrowed;
mod recall;
mod repeats;
mod selected;
mod shared_names;
mod spent;
mod stalled;
mod stores;
mod talk;
mod tools;
mod wishes;
