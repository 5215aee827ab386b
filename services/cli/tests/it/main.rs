//! The binary as a user runs it.

#![expect(unused_crate_dependencies, reason = "the library's dependencies are not all used here")]

mod crash;
mod server;
