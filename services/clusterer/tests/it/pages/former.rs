use chrono::{DateTime, TimeDelta, Utc};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact, Former};
use domain::page::{Dimension, Page, PageStatus};

use super::{World, fact, facts, units};
use crate::world::withdrawn;

/// Returns a moment after all units were observed, and the moment at which all facts were withdrawn.
fn moments() -> (DateTime<Utc>, DateTime<Utc>) {
    let after = units().iter().map(|it| it.observed_at.to_utc()).max().unwrap() + TimeDelta::hours(1);
    (after, after + TimeDelta::days(1))
}

/// Returns facts for pages of every dimension; the last one is about a topic.
fn stated_facts() -> Vec<Fact> {
    let own = fact(0, "Ines", "owns", "two beehives", Aspect::Possession);
    facts().into_iter().chain([own]).collect()
}

/// Returns the fact, withdrawn.
fn taken_back(fact: &Fact, until: DateTime<Utc>) -> Fact {
    Fact {
        withdrawn: true,
        former: vec![Former {
            until,
            fact: Some(fact.clone()),
        }],
        ..fact.clone()
    }
}

/// Returns each page with facts: its dimension, title and lines.
fn page_lines(world: &World, as_of: Option<DateTime<Utc>>) -> Vec<(Dimension, String, Vec<String>)> {
    let pages = world.stored.values();
    let pages = pages.filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
    let known = pages.filter_map(|it| match as_of {
        Some(as_of) => it.known_at(as_of),
        None => it.clone().without_former_lines(),
    });
    let lines = |page: &Page| -> Vec<String> {
        let lines = page.sections.iter().flat_map(|it| &it.lines);
        let mut lines: Vec<String> = lines.map(|it| format!("{} {}", it.text, it.until.is_some())).collect();
        lines.sort();
        lines
    };
    let mut page_lines: Vec<_> = known.map(|it| (it.dimension, it.title.clone(), lines(&it))).collect();
    page_lines.sort();
    page_lines
}

#[test]
fn withdrawn_facts_are_on_each_page_as_of_an_earlier_moment() {
    let (before, taken) = moments();
    let mut world = World::default();
    world.feed(&units(), &stated_facts());
    let then = page_lines(&world, Some(before));
    for dimension in [
        Dimension::Topic,
        Dimension::Figure,
        Dimension::Place,
        Dimension::Preference,
    ] {
        let of = |it: &&(Dimension, String, Vec<String>)| {
            it.0 == dimension
                && it
                    .2
                    .iter()
                    .any(|line| line.starts_with("Ines ") || line.starts_with("Joar "))
        };
        assert!(then.iter().find(of).is_some(), "no fact in {dimension:?}: {then:?}");
    }
    let back: Vec<Fact> = stated_facts().iter().map(|it| taken_back(it, taken)).collect();
    world.feed(&[], &back);
    assert_eq!(page_lines(&world, Some(before)), then);
    let now = page_lines(&world, None);
    assert_eq!(
        page_lines(&world, Some(taken)),
        now,
        "from that moment on it is not shown"
    );
    assert!(
        now.iter().all(|it| it.0 != Dimension::Preference),
        "nothing is left of them: {now:?}"
    );
    let texts: Vec<&String> = now.iter().flat_map(|it| &it.2).collect();
    for fact in stated_facts() {
        let statement = format!("{} {} {}", fact.subject, fact.predicate, fact.object);
        assert!(texts.iter().all(|it| !it.starts_with(&statement)), "{statement}");
    }
}

#[test]
fn closed_facts_crowded_out_of_a_page_are_on_it_as_of_an_earlier_moment() {
    let (before, _) = moments();
    let mut world = World::default();
    let closed = before + TimeDelta::hours(1);
    let owned: Vec<Fact> = (0..12)
        .map(|it| fact(it, "Ines", "owns", &format!("crate {it}"), Aspect::Possession))
        .collect();
    world.feed(&units(), &owned);
    let then = page_lines(&world, Some(before));
    let mut sold = owned[3].clone();
    (sold.valid_until, sold.closed_at) = (Some(closed), Some(closed));
    let mut bought = fact(13, "Ines", "owns", "crate 99", Aspect::Possession);
    bought.recorded_at = closed;
    world.feed(&[], &[sold, bought]);
    let page = world.page(Dimension::Figure, "Ines").clone();
    let section = page.sections.iter().find(|it| it.category == "possession").unwrap();
    assert_eq!((section.lines.len(), section.former.len()), (12, 1));
    assert_eq!(section.former[0].line.text, "Ines owns crate 3");
    assert_eq!(page_lines(&world, Some(before)), then);
    assert!(
        page.without_former_lines()
            .unwrap()
            .sections
            .iter()
            .all(|it| it.former.is_empty())
    );
}

#[test]
fn former_lines_are_bounded_and_disappear_with_their_source() {
    let (_, taken) = moments();
    let mut world = World::default();
    let all: Vec<Fact> = (0..40)
        .map(|it| {
            let fact = fact(it, "Ines", "likes", &format!("crate {it}"), Aspect::Preference);
            let late = i64::try_from(it).unwrap();
            taken_back(&fact, taken + TimeDelta::minutes(late))
        })
        .collect();
    world.feed(&units(), &all);
    let page = world.page(Dimension::Preference, "Preferences of Ines");
    assert_eq!(page.status, PageStatus::Former);
    let former: Vec<&str> = page.sections[0].former.iter().map(|it| it.line.text.as_str()).collect();
    assert_eq!((page.sections.len(), former.len()), (1, 12));
    assert_eq!(former[0], "Ines likes crate 39", "those that went last stay");
    assert!(page.clone().without_former_lines().is_none() && page.links.is_empty());
    // Erased: the facts are gone, and their units state nothing.
    world.drop_facts(&all);
    let removed: Vec<_> = units().iter().map(withdrawn).collect();
    world.feed(&removed, &[]);
    assert!(world.stored.is_empty(), "{:?}", world.stored.keys());
}
