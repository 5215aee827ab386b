//! Tests of the reader through its public functions.

#![expect(clippy::unwrap_used, reason = "fixtures are known to be well formed")]

mod allergies;
mod amended;
mod certain;
mod changes;
mod honest;
mod languages;
mod plan;
mod read;
mod refusals;
mod short_answers;
mod spoken_corrections;
mod stated;
mod talk;
mod times;
mod told_events;
