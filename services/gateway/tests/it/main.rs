//! The gateway through its routes, over the embedded stores, with small services behind it.

mod access;
mod fuzz;
mod harness;
mod lists;
mod openapi;
mod query;
mod records;
mod tools;
