use std::collections::{BTreeMap, BTreeSet};

use domain::derived::Derived;
use domain::fact::{Aspect, Fact};
use domain::id::PageId;
use domain::page::{Dimension, LinkKind, Page};
use domain::unit::Unit;

use super::{World, fact, units};
use crate::world::{Stored, dated, event, shuffled, turn, withdrawn};

/// Checks that each link leads to another existing page by its title, and that links in time never form a circle.
pub(super) fn check(stored: &Stored) {
    let pages = stored.values();
    let pages = pages.filter_map(|it| {
        if let Derived::Page(it) = it {
            Some((it.id, it))
        } else {
            None
        }
    });
    let pages: BTreeMap<PageId, &Page> = pages.collect();
    for (id, page) in &pages {
        assert!(page.links.len() <= 16 && page.sections.len() <= 12, "{}", page.title);
        assert!(page.links.is_sorted_by(|a, b| a.weight >= b.weight));
        for link in &page.links {
            assert_ne!(link.page, *id, "{} leads to itself", page.title);
            let target = pages.get(&link.page);
            assert_eq!(target.map(|it| &it.title), Some(&link.title), "from {}", page.title);
        }
        let next = |it: &PageId| {
            let links = pages[it].links.iter();
            let mut next = links.filter(|it| it.kind == LinkKind::TemporalNext).map(|it| it.page);
            next.next()
        };
        let way: Vec<PageId> = std::iter::successors(Some(*id), next).take(pages.len() + 1).collect();
        assert!(way.len() <= pages.len(), "{} comes round", page.title);
    }
}

fn leads(from: &Page, kind: LinkKind) -> Vec<&str> {
    let links = from.links.iter().filter(|it| it.kind == kind);
    links.map(|it| it.title.as_str()).collect()
}

/// Returns two sentences that name each other as the reason.
fn reasons() -> Vec<Unit> {
    let sentences = [
        "Ines moved to Bergen because of Joar and the harbour.",
        "Joar bought the boat because of Ines and her brother.",
    ];
    let numbered = sentences
        .iter()
        .enumerate()
        .flat_map(|it| [(it.0, it.1), (it.0 + 2, it.1)]);
    let units = numbered.map(|(number, text)| {
        let mut out = dated(turn(number), number);
        out.text = (*text).to_owned();
        out.summary = format!("[1 May 2024] {}: {text}", out.actor);
        out.participants = ["Ines", "Joar"].map(str::to_owned).to_vec();
        out
    });
    units.collect()
}

#[test]
fn circular_reasons_are_both_linked() {
    let mut world = World::default();
    world.feed(&reasons(), &[]);
    assert_eq!(
        leads(world.page(Dimension::Figure, "Ines"), LinkKind::CausedBy),
        ["Joar"]
    );
    assert_eq!(
        leads(world.page(Dimension::Figure, "Joar"), LinkKind::CausedBy),
        ["Ines"]
    );
    let removed: Vec<Unit> = reasons().iter().map(withdrawn).collect();
    world.feed(&removed, &[]);
    assert_eq!(world.stored, Stored::new());
}

/// Returns the facts that Ines was a beekeeper in Oslo, stated with the beehive, and is a cellist in Bergen, stated with
/// the cello.
fn moved() -> Vec<Fact> {
    let mut oslo = fact(0, "Ines", "keeps a beehive in", "Oslo", Aspect::Place);
    let bergen = fact(1, "Ines", "plays the cello in", "Bergen", Aspect::Place);
    oslo.valid_until = Some(bergen.recorded_at);
    oslo.closed_at = Some(bergen.recorded_at);
    oslo.retired_by = Some(bergen.id);
    vec![oslo, bergen]
}

fn with_oslo() -> Vec<Unit> {
    let mut units = units();
    for unit in units.iter_mut().take(40).filter(|it| it.location.is_empty()) {
        unit.location = "Oslo".to_owned();
    }
    units
}

#[test]
fn a_closed_fact_contrasts_with_the_one_that_replaced_it() {
    let mut world = World::default();
    world.feed(&with_oslo(), &moved());
    let against = LinkKind::ContrastsWith;
    assert_eq!(leads(world.page(Dimension::Place, "Oslo"), against), ["Bergen"]);
    assert_eq!(leads(world.page(Dimension::Place, "Bergen"), against), ["Oslo"]);
    // Both topics have such a link, each because of its own fact.
    let contrasted_titles = |world: &World, theme: usize| -> (Vec<String>, Vec<String>) {
        let page = world.topic_page(world.topic_of_event(event(theme).id));
        let facts = page
            .sections
            .iter()
            .filter(|it| it.category == "place")
            .flat_map(|it| &it.lines);
        let facts = facts.map(|it| format!("{}{}", it.text, if it.until.is_some() { " no more" } else { "" }));
        (
            facts.collect(),
            leads(page, against).into_iter().map(str::to_owned).collect(),
        )
    };
    let (beehive, cello) = (contrasted_titles(&world, 0), contrasted_titles(&world, 1));
    assert_eq!(beehive.0, ["Ines keeps a beehive in Oslo no more"]);
    assert_eq!(cello.0, ["Ines plays the cello in Bergen"]);
    assert_eq!((beehive.1.len(), cello.1.len()), (1, 1));
    // Without the fact that closed it, there is nothing to contrast with.
    let mut oslo = moved().remove(0);
    (oslo.valid_until, oslo.closed_at, oslo.retired_by) = (None, None, None);
    world.drop_facts(&moved()[1..]);
    world.feed(&[], &[oslo]);
    assert_eq!(
        contrasted_titles(&world, 0),
        (vec!["Ines keeps a beehive in Oslo".to_owned()], Vec::new())
    );
    assert_eq!(leads(world.page(Dimension::Place, "Oslo"), against), Vec::<&str>::new());
    let mut other = World::default();
    other.feed(&shuffled(&with_oslo(), 3), &[]);
    other.feed(&[], &shuffled(&moved(), 2));
    world.feed(&[], &moved());
    assert_eq!(other.stored, world.stored);
}

#[test]
fn any_dimension_may_be_empty() {
    let mut world = World::default();
    let mut units = units();
    units.iter_mut().for_each(|it| it.location.clear());
    world.feed(&units, &[]);
    let pages = world.stored.values();
    let dimensions = pages.filter_map(|it| {
        if let Derived::Page(it) = it {
            Some(it.dimension.name())
        } else {
            None
        }
    });
    let dimensions: BTreeSet<&str> = dimensions.collect();
    assert_eq!(dimensions, ["event", "figure", "topic"].into());
}
