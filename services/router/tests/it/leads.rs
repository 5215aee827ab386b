//! What is derived of a space reaches the features of its turns.

use chrono::{DateTime, Utc};
use domain::port::SearchResult;
use router::Leads;
use router::edges::Related;
use router::heads::Weights;
use router::memory::Memory;
use router::propose::{Gate, propose};
use router::query::Query;
use router::route;
use router::slots::{self as s, Values};
use router::view::View;

use crate::derived::{all_units, at, derived, turn};
use crate::talk::{request, units};

/// Features of the turns of the talk in order.
fn values(question: &str, as_of: Option<DateTime<Utc>>) -> Vec<Values> {
    let (view, memory) = (View::of(units()), Memory::of(all_units(), derived()));
    let asked = request(question, 60);
    let query = Query::read(question, &view, route::now(&view, &asked));
    let leads = Leads {
        found: &SearchResult::default(),
        related: &Related::from([(turn(4), turn(0))]),
        known: memory.at(as_of),
    };
    let candidates = propose(&view, &query, &Gate::of(&asked), leads);
    let mut scored = route::score(&view, &query, &candidates, leads, Weights::builtin().unwrap());
    scored.sort_by_key(|it| it.place);
    scored.into_iter().map(|it| it.values).collect()
}

/// The numbers of the turns where a feature stands near the best of all.
fn high(values: &[Values], slot: usize) -> Vec<usize> {
    let best = values.iter().map(|it| it[slot]).fold(0.1, f32::max);
    (0..values.len()).filter(|it| values[*it][slot] > 0.9 * best).collect()
}

#[test]
fn what_is_likely_leads_to_what_stands_beside_it() {
    let told = values("What did Omar make in pottery classes?", None);
    assert_eq!(high(&told, s::EVENT_RANK), [4, 5, 6]);
    assert_eq!(high(&told, s::TOPIC_RANK), [4, 5, 6]);
    assert!(told[4][s::TOPIC_COVER] > 0.2 && told[0][s::TOPIC_COVER] < 0.1);
    assert!(told[0][s::RELATED_BEST] > 0.5 && told[1][s::RELATED_BEST] == 0.0);
    assert!(
        told[7][s::PAGE_BEST] > told[0][s::PAGE_BEST],
        "one page tells of turns 4 and 7"
    );
    let told = values("Which breed is Biscuit?", None);
    assert!(told[0][s::ENTITY_BEST] > 0.0 && told[7][s::ENTITY_BEST] > 0.0 && told[2][s::ENTITY_BEST] == 0.0);
    assert!(told[7][s::PAGED] > 0.0 && told[5][s::PAGED] == 0.0);
}

#[test]
fn what_was_not_known_yet_leads_nowhere() {
    let question = "What did Omar make in pottery classes?";
    let before = values(question, Some(at("2024-04-11T18:00:30Z")));
    assert_eq!(before[4][s::TOPIC_RANK], 0.0, "the event is not over");
    assert!(values(question, None)[4][s::TOPIC_RANK] > 0.0);
}
