//! The binary as a user runs it.

mod crash;
mod damage;
mod journey;
mod server;
