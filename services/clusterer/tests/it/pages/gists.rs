//! Tests of pages of months and topics whose events a language model has read.

use std::collections::BTreeSet;

use domain::derived::Derived;
use domain::id::{ReadingId, RecordId, UnitId};
use domain::page::{Dimension, Line, Page};
use domain::unit::{Grain, Status, Unit};

use super::{World, facts, lines, units};
use crate::space;
use crate::world::{dated, event_with_sentence, shuffled, turn, withdrawn};

fn record(number: usize) -> RecordId {
    RecordId::from_external_id(&space(), &number.to_string())
}

/// Returns a gist of these records. Gists of the same records need different texts.
fn gist(numbers: &[usize], text: &str) -> Unit {
    let first = turn(numbers[0]);
    let place = text
        .bytes()
        .fold(0_u16, |sum, it| sum.wrapping_mul(31).wrapping_add(it.into()));
    Unit {
        id: UnitId::of_gist(ReadingId::of_passage(record(numbers[0])), place),
        grain: Grain::Gist,
        records: numbers.iter().map(|it| record(*it)).collect(),
        external_ids: numbers.iter().map(ToString::to_string).collect(),
        text: text.to_owned(),
        summary: text.to_owned(),
        participants: Vec::new(),
        location: String::new(),
        ..first
    }
}

/// Returns an event of several records with a quote that is worth a line.
fn long_event(numbers: &[usize], sentence: &str) -> Unit {
    Unit {
        records: numbers.iter().map(|it| record(*it)).collect(),
        external_ids: numbers.iter().map(ToString::to_string).collect(),
        text: format!("Joar: {sentence}"),
        ..dated(event_with_sentence(numbers[0], sentence), numbers[0])
    }
}

const BRIDGE: &str = "The old bridge near Bergen carries 40 lorries every morning.";
const FERRY: &str = "The night ferry takes 3 hours and costs 90 euros return.";

/// Returns the lines of the section of events.
fn event_lines(page: &Page) -> &[Line] {
    let mut sections = page.sections.iter().filter(|it| it.category == "events");
    sections.next().map_or(&[], |it| &it.lines)
}

fn may_lines(units: &[Unit]) -> Vec<String> {
    let mut world = World::default();
    world.feed(units, &[]);
    let may = world.page(Dimension::Event, "May 2024");
    event_lines(may).iter().map(|it| it.text.clone()).collect()
}

#[test]
fn months_show_the_gist_of_an_event_and_quote_events_without_one() {
    let units = [long_event(&[0, 1], BRIDGE), long_event(&[2, 3], FERRY)];
    assert_eq!(
        may_lines(&units),
        [format!("Joar: {BRIDGE}"), format!("Joar: {FERRY}")],
        "without a model"
    );
    let read = gist(&[1], "Joar counted 40 lorries on the bridge.");
    let [bridge, ferry] = units;
    let units = [bridge, ferry, read.clone()];
    assert_eq!(may_lines(&units), [read.text.clone(), format!("Joar: {FERRY}")]);
    let mut world = World::default();
    world.feed(&units, &[]);
    let line = &event_lines(world.page(Dimension::Event, "May 2024"))[0];
    assert_eq!((line.unit, line.observed_at), (read.id, read.observed_at.to_utc()));
}

#[test]
fn topics_show_the_gists_of_their_events() {
    let mut world = World::default();
    world.feed(&units(), &[]);
    let quotes = topic_texts(&world);
    assert!(
        quotes.contains("I bought a second beehive and 3 jars of honey from Edda."),
        "{quotes:?}"
    );
    let read: Vec<Unit> = (0..70)
        .map(|it| gist(&[it], &format!("Ines and Joar talked about matter {it} on a walk.")))
        .collect();
    world.feed(&read, &[]);
    let gists = topic_texts(&world);
    assert!(
        gists.len() > 12 && gists.iter().all(|it| it.starts_with("Ines and Joar talked")),
        "{gists:?}"
    );
}

fn topic_texts(world: &World) -> BTreeSet<String> {
    let pages = world
        .stored
        .values()
        .filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
    let topics = pages.filter(|it| it.dimension == Dimension::Topic);
    topics.flat_map(event_lines).map(|it| it.text.clone()).collect()
}

#[test]
fn an_event_shows_its_best_gist_even_if_all_say_little() {
    let event = long_event(&[0, 1, 2], BRIDGE);
    let [plain, rich] = [
        gist(&[0], "Joar greeted her."),
        gist(&[1, 2], "Joar counted 40 lorries near Bergen and 7 vans."),
    ];
    assert_eq!(may_lines(&[event.clone(), plain.clone()]), ["Joar greeted her."]);
    assert_eq!(may_lines(&[event.clone(), plain, rich.clone()]), [rich.text.as_str()]);
    // Of two with the same score, the earlier one is shown.
    let later = gist(&[2], "Joar counted 40 lorries near Bergen and 8 vans.");
    assert_eq!(may_lines(&[later, event, rich.clone()]), [rich.text]);
}

#[test]
fn a_gist_that_reaches_outside_of_the_event_or_is_not_active_is_not_shown() {
    let event = long_event(&[0, 1], BRIDGE);
    let quote = [format!("Joar: {BRIDGE}")];
    let text = "Joar counted 40 lorries on the bridge.";
    assert_eq!(may_lines(&[event.clone(), gist(&[1, 2], text)]), quote);
    let archived = Unit {
        status: Status::Archived,
        ..gist(&[0, 1], text)
    };
    assert_eq!(may_lines(&[event.clone(), archived]), quote);
    assert_eq!(may_lines(&[event, gist(&[0, 1], text)]), [text]);
}

#[test]
fn two_events_never_show_the_same_gist_on_one_page() {
    // Both events contain record 1. The first one has the better quote, so it is served first.
    let events = [long_event(&[0, 1], BRIDGE), long_event(&[1, 2], FERRY)];
    let shared = gist(&[1], "Joar counted 40 lorries near Bergen and 7 vans.");
    let own = gist(&[2], "Joar paid 90 euros.");
    let [bridge, ferry] = events;
    let mut units = vec![bridge, ferry, shared.clone()];
    let with_quote: BTreeSet<String> = may_lines(&units).into_iter().collect();
    let shared_and = |other: &str| BTreeSet::from([shared.text.clone(), other.to_owned()]);
    assert!(
        with_quote == shared_and(&format!("Joar: {FERRY}")) || with_quote == shared_and(&format!("Joar: {BRIDGE}")),
        "{with_quote:?}"
    );
    units.push(own.clone());
    let with_next: BTreeSet<String> = may_lines(&units).into_iter().collect();
    assert_eq!(with_next, shared_and(&own.text));
}

#[test]
fn the_quote_returns_when_the_gist_is_removed_or_forgotten() {
    let mut world = World::default();
    let read = gist(&[1], "Joar counted 40 lorries on the bridge.");
    world.feed(&[long_event(&[0, 1], BRIDGE), turn(1)], &[]);
    let shown = |world: &World| lines(world.page(Dimension::Event, "May 2024")).join("|");
    let quote = format!("Joar: {BRIDGE}");
    assert_eq!(shown(&world), quote);
    world.feed(std::slice::from_ref(&read), &[]);
    assert_eq!(shown(&world), read.text);
    // The event cannot be quoted without the forgotten turn.
    for (forgotten, left) in [(read.id, quote.as_str()), (turn(1).id, "")] {
        world.pages.set_forgotten([forgotten].into_iter());
        world.feed(&[], &[]);
        assert_eq!(shown(&world), left);
        world.pages.set_forgotten(std::iter::empty());
        world.feed(&[], &[]);
        assert_eq!(shown(&world), read.text);
    }
    let changed = Unit {
        text: "Joar counted 41 lorries on the bridge.".to_owned(),
        ..read.clone()
    };
    world.feed(std::slice::from_ref(&changed), &[]);
    assert_eq!(shown(&world), changed.text);
    world.feed(&[withdrawn(&changed)], &[]);
    assert_eq!(shown(&world), quote);
}

#[test]
fn a_turn_is_quoted_with_its_speaker_unless_a_gist_of_it_is_shown() {
    let mut world = World::default();
    let spoken = |number: usize, text: &str| {
        let mut spoken_turn = turn(number);
        spoken_turn.actor = "Ines".to_owned();
        spoken_turn.addressee.clear();
        spoken_turn.text = text.to_owned();
        spoken_turn
    };
    let read = [
        spoken(0, "I sold 7 jars of my heather honey to them yesterday."),
        spoken(3, "They paid 90 euros for the whole lot."),
    ];
    let unread = spoken(6, "I keep 12 jars of linden honey for Joar.");
    let quotes = read.each_ref().map(|it| format!("Ines: {}", it.text));
    let kept = format!("Ines: {}", unread.text);
    let shown = |world: &World| -> Vec<String> {
        let all = lines(world.page(Dimension::Figure, "Ines"));
        all.into_iter().map(str::to_owned).collect()
    };
    world.feed(&read, &[]);
    world.feed(&[unread, turn(1), turn(2)], &[]);
    let before = shown(&world);
    assert!(
        quotes.iter().chain([&kept]).all(|it| before.contains(it)),
        "without a gist: {before:?}"
    );
    let mut gist = gist(&[0, 3], "Ines sold 7 jars of heather honey for 90 euros.");
    gist.participants = vec!["Ines".to_owned()];
    world.feed(std::slice::from_ref(&gist), &[]);
    let with_gist = shown(&world);
    assert!(
        with_gist.contains(&gist.text) && with_gist.contains(&kept),
        "{with_gist:?}"
    );
    assert!(!quotes.iter().any(|it| with_gist.contains(it)), "{with_gist:?}");
    world.feed(&[withdrawn(&gist)], &[]);
    assert_eq!(shown(&world), before);
}

#[test]
fn a_gist_that_names_nobody_of_the_page_hides_no_quote() {
    let mut world = World::default();
    let mut spoken_turn = turn(0);
    spoken_turn.text = "I sold 7 jars of my heather honey to them yesterday.".to_owned();
    let quote = format!("Ines: {}", spoken_turn.text);
    let unnamed = gist(&[0], "7 jars of heather honey were sold.");
    world.feed(
        &[
            spoken_turn,
            turn(1),
            turn(2),
            Unit {
                actor: String::new(),
                ..unnamed
            },
        ],
        &[],
    );
    let shown = lines(world.page(Dimension::Figure, "Ines"));
    assert!(shown.contains(&quote.as_str()), "{shown:?}");
}

/// Returns overlapping events of several records, with gists inside of them and across their ends.
fn read_talk() -> Vec<Unit> {
    let mut out = Vec::new();
    for block in 0..8 {
        let start = 20 + 4 * block;
        let numbers: Vec<usize> = (start..start + 4).collect();
        out.push(long_event(&numbers, &format!("{BRIDGE} Lane {block}.")));
        out.push(long_event(&numbers[1..3], &format!("{FERRY} Deck {block}.")));
        out.push(gist(
            &numbers[..2],
            &format!("Joar counted {block} lorries near Bergen."),
        ));
        out.push(gist(
            &numbers[2..3],
            &format!("Ines booked cabin {block} for 90 euros."),
        ));
        out.push(gist(&numbers[1..2], &format!("Ines greeted guest {block}.")));
        out.push(gist(
            &[start + 3, start + 4],
            &format!("Ines and Joar met at pier {block}."),
        ));
    }
    out
}

#[test]
fn pages_with_gists_depend_only_on_the_set_of_units() {
    let mut all = units();
    let read = read_talk();
    all.retain(|it| read.iter().all(|other| other.id != it.id));
    all.extend(read);
    let removed = |it: &(usize, &Unit)| it.0 % 7 == 3;
    let kept: Vec<Unit> = all
        .iter()
        .enumerate()
        .filter(|it| !removed(it))
        .map(|it| it.1.clone())
        .collect();
    let gone: Vec<Unit> = all
        .iter()
        .enumerate()
        .filter(removed)
        .map(|it| withdrawn(it.1))
        .collect();
    assert!(gone.iter().any(|it| it.grain == Grain::Gist) && gone.iter().any(|it| it.grain == Grain::Event));
    let pages_of = |units: &[Unit]| {
        let mut world = World::default();
        world.feed(units, &facts());
        world.stored
    };
    let (whole, without) = (pages_of(&all), pages_of(&kept));
    assert_ne!(whole, without);
    for seed in 1..=6 {
        let mut world = World::default();
        for batch in shuffled(&all, seed).chunks(5 + 9 * seed as usize) {
            world.feed(batch, &[]);
            // A unit that arrives twice changes nothing.
            world.feed(&batch[..batch.len() / 2], &[]);
        }
        world.feed(&[], &facts());
        assert_eq!(world.stored, whole, "order {seed}");
        shuffled(&gone, seed).chunks(4).for_each(|it| world.feed(it, &[]));
        assert_eq!(world.stored, without, "order {seed}, some removed");
        shuffled(&all, seed + 9).chunks(11).for_each(|it| world.feed(it, &[]));
        assert_eq!(world.stored, whole, "order {seed}, all again");
    }
}
