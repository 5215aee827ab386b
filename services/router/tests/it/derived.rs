//! The derived objects of the talk, written by hand.

use chrono::{DateTime, Utc};
use domain::derived::Derived;
use domain::entity::{Entity, EntityKind};
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, MergeId, PageId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::page::{Dimension, Line, Link, LinkKind, Page, PageStatus, Section};
use domain::relation::RelationKind;
use domain::topic::{Member, Topic};
use domain::unit::Unit;
use fixtures::sample_fact;

use crate::talk::{event, space, units};

/// Index of the turn, subject, predicate, object, aspect.
const FACTS: &[(usize, &str, &str, &str, Aspect)] = &[
    (0, "Liv", "has", "a dog named Biscuit", Aspect::Possession),
    (3, "Omar", "likes", "cats", Aspect::Preference),
    (3, "Omar's sister", "wants", "a beagle", Aspect::Plan),
    (4, "Omar", "lives in", "Bergen", Aspect::Place),
    (6, "Omar", "made", "two bowls", Aspect::Count),
    (6, "Omar", "made", "1 mug", Aspect::Count),
    (6, "Omar", "likes", "kilns", Aspect::Preference),
    (7, "Omar", "lives in", "Oslo", Aspect::Place),
];

/// Returns the turn units of the talk, two events of several turns, and an event that was merged into the first one.
pub(crate) fn all_units() -> Vec<Unit> {
    let mut all = units();
    all.push(event(
        0..4,
        "dog adoption",
        "[2 March 2024] Liv, Omar\nLiv adopted a dog, Biscuit.",
    ));
    all.push(event(
        4..7,
        "pottery classes",
        "[11 April 2024] Omar, Liv\nOmar made two bowls and a mug.",
    ));
    all.push(event(
        7..8,
        "biscuit hike",
        "[20 May 2024] Liv\nLiv hiked up Mount Ulriken with Biscuit.",
    ));
    all
}

/// Returns all derived objects of these units.
pub(crate) fn derived() -> Vec<Derived> {
    let mut facts = facts();
    // He says in May that he moved in April.
    let moved = facts[7].id;
    facts[3].valid_until = Some(at("2024-04-20T00:00:00Z"));
    facts[3].closed_at = Some(facts[7].recorded_at);
    facts[3].retired_by = Some(moved);
    facts[7].valid_from.start = at("2024-04-20T00:00:00Z");
    facts[6].withdrawn = true;
    let mut all: Vec<Derived> = facts.into_iter().map(Derived::Fact).collect();
    all.extend([
        entity("Liv", EntityKind::Speaker, &[], &[], "2024-03-02T10:00:00Z"),
        entity("Omar", EntityKind::Speaker, &["Oz"], &[], "2024-03-02T10:01:00Z"),
        entity(
            "Noor",
            EntityKind::Person,
            &[],
            &["Omar's sister"],
            "2024-03-02T10:03:00Z",
        ),
        entity("Oslo", EntityKind::Place, &[], &[], "2024-05-20T08:00:00Z"),
    ]);
    all.extend(topic("pets", "2024-03-02T10:00:00Z", &[0]));
    all.extend(topic("pottery", "2024-04-11T18:00:00Z", &[4]));
    all.push(merge());
    all.extend(pages().into_iter().map(Derived::Page));
    all
}

/// Returns the id of a turn of the talk.
pub(crate) fn turn(number: usize) -> UnitId {
    units()[number].id
}

/// Returns the id of the event that starts with a turn of the talk.
pub(crate) fn event_at(number: usize) -> UnitId {
    UnitId::of_event(units()[number].records[0])
}

pub(crate) fn page_id(dimension: Dimension, subject: &str) -> PageId {
    PageId::from_subject(&space(), dimension.name(), subject)
}

pub(crate) fn at(time: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(time).unwrap().to_utc()
}

/// Returns the facts in the order of [`FACTS`].
fn facts() -> Vec<Fact> {
    let units = units();
    let fact = |&(turn, subject, predicate, object, aspect): &(usize, &str, &str, &str, Aspect)| Fact {
        entity: Some(EntityId::from_name(&space(), &subject.to_lowercase())).filter(|_| subject != "Omar's sister"),
        ..sample_fact(&units[turn], [subject, predicate, object], aspect)
    };
    FACTS.iter().map(fact).collect()
}

fn entity(name: &str, kind: EntityKind, aliases: &[&str], roles: &[&str], first_seen: &str) -> Derived {
    Derived::Entity(Entity {
        id: EntityId::from_name(&space(), &name.to_lowercase()),
        name: name.to_owned(),
        kind,
        aliases: aliases.iter().map(|it| (*it).to_owned()).collect(),
        mentions: 3,
        first_seen: Some(at(first_seen)),
        roles: roles.iter().map(|it| (*it).to_owned()).collect(),
        bearers: Vec::new(),
        synonyms: Vec::new(),
    })
}

fn topic(label: &str, seen: &str, events: &[usize]) -> Vec<Derived> {
    let id = TopicId::from_founding_unit(event_at(events[0]));
    let members = events.iter().map(|it| {
        Derived::Member(Member {
            unit: event_at(*it),
            topic: id,
            similarity: 0.9,
        })
    });
    let topic = Derived::Topic(Topic {
        id,
        label: label.to_owned(),
        summary: None,
        keywords: vec![label.to_owned()],
        units: events.len() as u64,
        first_seen: at(seen),
        last_seen: at(seen),
    });
    members.chain([topic]).collect()
}

fn merge() -> Derived {
    let (kept, merged) = (event_at(0).uuid(), event_at(7).uuid());
    Derived::Merge(Merge {
        id: MergeId::from_pair(kept, merged),
        of: MergeOf::Units,
        kept,
        merged,
        names: ["dog adoption".to_owned(), "biscuit hike".to_owned()],
        similarity: 0.93,
        same_event: true,
        has_overlap: true,
        relation_type: Some(RelationKind::SameAs),
        reason: "the same dog".to_owned(),
        records: units()[7].records.clone(),
        since: None,
        undone: false,
        undone_at: None,
    })
}

fn pages() -> Vec<Page> {
    let omar = page_id(Dimension::Figure, "omar");
    let liv = page_id(Dimension::Figure, "liv");
    let old = page_id(Dimension::Figure, "noor");
    let link = |kind, page, title: &str| Link {
        kind,
        page,
        title: title.to_owned(),
        weight: 0.5,
    };
    let mut all = vec![
        page(
            omar,
            Dimension::Figure,
            "Omar",
            &[(4, "lives in Bergen", Some(3)), (7, "lives in Oslo", Some(7))],
        ),
        page(
            liv,
            Dimension::Figure,
            "Liv",
            &[(0, "has a dog named Biscuit", Some(0))],
        ),
        page(old, Dimension::Figure, "Noor", &[(3, "wants a beagle", Some(2))]),
        page(
            page_id(Dimension::Place, "oslo"),
            Dimension::Place,
            "Oslo",
            &[(7, "Omar lives in Oslo", Some(7))],
        ),
    ];
    all[0].sections[0].lines[0].until = Some(at("2024-04-20T00:00:00Z"));
    all[0].sections[0].summary = Some("Omar moved from Bergen to Oslo.".to_owned());
    all[0].links = vec![
        link(LinkKind::RelatedTo, liv, "Liv"),
        link(LinkKind::CausedBy, page_id(Dimension::Place, "oslo"), "Oslo"),
    ];
    all[1].links = vec![link(LinkKind::RelatedTo, omar, "Omar")];
    all[2].status = PageStatus::Archived;
    all
}

fn page(id: PageId, dimension: Dimension, title: &str, lines: &[(usize, &str, Option<usize>)]) -> Page {
    let facts = facts();
    let lines: Vec<Line> = lines
        .iter()
        .map(|(turn, text, fact_index)| Line {
            text: (*text).to_owned(),
            unit: units()[*turn].id,
            observed_at: units()[*turn].observed_at.to_utc(),
            fact: fact_index.map(|it| facts[it].id),
            until: None,
        })
        .collect();
    Page {
        id,
        dimension,
        title: title.to_owned(),
        summary: format!("All about {title}."),
        aliases: Vec::new(),
        tags: vec!["oslo".to_owned(), "bergen".to_owned()],
        updated_at: lines.iter().map(|it| it.observed_at).max().unwrap(),
        sections: vec![Section {
            title: "Facts".to_owned(),
            category: "place".to_owned(),
            summary: None,
            lines,
            left_out: 0,
            former: Vec::new(),
            time: None,
            confidence: 0.8,
        }],
        links: Vec::new(),
        confidence: 0.8,
        status: PageStatus::Active,
    }
}
