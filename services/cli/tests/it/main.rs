//! The binary as a user runs it.

mod crash;
mod damage;
mod journey;
#[expect(dead_code, reason = "shared with the benches, which use other parts")]
mod server;
