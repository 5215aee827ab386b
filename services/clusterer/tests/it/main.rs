//! Tests of the clusterer from outside: units in, derived data out.

#![expect(clippy::unwrap_used, reason = "tests")]

mod coreference;
mod coreference_worker;
mod endpoint;
mod entities;
mod events;
mod facts;
mod failed_questions;
mod follow;
mod gists;
mod held;
mod judged;
mod labels;
mod pages;
mod people;
mod roles;
mod spilled;
mod summaries;
mod topics;
mod versions;
mod world;

use domain::id::SpaceId;
use domain::unit::Unit;
use fixtures::sample_unit;

fn space() -> SpaceId {
    "home".parse().unwrap()
}

fn unit(number: usize, actor: &str, text: &str) -> Unit {
    Unit {
        ordinal: number as u64,
        actor: actor.to_owned(),
        text: text.to_owned(),
        participants: text::find_names(text)
            .into_iter()
            .chain(text::find_vocatives(text))
            .map(str::to_owned)
            .collect(),
        location: if text.contains("Oslo") {
            "Oslo".to_owned()
        } else {
            String::new()
        },
        ..sample_unit(&space(), &number.to_string())
    }
}
