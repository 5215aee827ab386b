//! The binary as a user runs it.

mod crash;
mod server;
