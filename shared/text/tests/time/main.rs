//! Tests of the times that a text mentions.

mod checks;
mod languages;
mod running;
mod withheld;
mod years;
