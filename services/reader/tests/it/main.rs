//! The reader through its public functions.

#![expect(clippy::unwrap_used, reason = "fixtures are known to be well formed")]

mod amended;
mod at_work;
mod certain;
mod changes;
mod gaps;
mod honest;
mod kinds;
mod languages;
mod newcomers;
mod plain;
mod plan;
mod read;
mod stated;
mod talk;
mod times;
mod unforgiven;
mod yes_no;
