use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use clusterer::{Acts, ChangedObjects, Entities, Pages, Topics};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact};
use domain::id::{EntityId, PageId, TopicId, UnitId};
use domain::page::{Dimension, LinkKind, Page, PageStatus};
use domain::unit::Unit;
use fixtures::sample_fact;

use crate::space;
use crate::world::{Stored, dated, event, shuffled, store, turn, vector, withdrawn};

mod former;
mod gists;
mod hidden;
mod links;
mod sections;

/// Returns the texts of all lines of a page.
fn lines(page: &Page) -> Vec<&str> {
    let lines = page.sections.iter().flat_map(|it| &it.lines);
    lines.map(|it| it.text.as_str()).collect()
}

#[derive(Default)]
struct World {
    topics: Topics,
    entities: Entities,
    pages: Pages,
    stored: Stored,
    read: BTreeMap<PageId, DateTime<Utc>>,
}

impl World {
    fn feed(&mut self, units: &[Unit], facts: &[Fact]) {
        for unit in units {
            self.topics.apply_unit(unit, Some(&vector(unit)));
            self.entities.apply_unit(unit);
            self.pages.apply_unit(unit);
        }
        self.pages
            .apply_changes(&self.entities.take_changes(&space(), &Acts::default()));
        let topics = self.topics.take_changes(&Acts::default());
        self.pages.apply_changes(&topics);
        store(&mut self.stored, &topics);
        self.pages.apply_changes(&ChangedObjects {
            put: facts.iter().cloned().map(Derived::Fact).collect(),
            removed: Vec::new(),
        });
        store(&mut self.stored, &self.pages.take_changes(&space(), &self.read));
        links::check(&self.stored);
    }

    fn topic_page(&self, topic: TopicId) -> &Page {
        let id = PageId::from_subject(&space(), Dimension::Topic.name(), &topic.to_string());
        let pages = self.stored.values();
        let mut pages = pages.filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
        pages.find(|it| it.id == id).unwrap()
    }

    fn topic_of_event(&self, event: UnitId) -> TopicId {
        let members = self.stored.values();
        let mut members = members.filter_map(|it| if let Derived::Member(it) = it { Some(it) } else { None });
        members.find(|it| it.unit == event).unwrap().topic
    }

    /// Removes facts.
    fn drop_facts(&mut self, facts: &[Fact]) {
        self.pages.apply_changes(&ChangedObjects {
            put: Vec::new(),
            removed: facts.iter().map(|it| Derived::Fact(it.clone()).id()).collect(),
        });
        self.feed(&[], &[]);
    }

    fn page(&self, dimension: Dimension, title: &str) -> &Page {
        let pages = self.stored.values();
        let mut pages = pages.filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None });
        pages.find(|it| it.dimension == dimension && it.title == title).unwrap()
    }
}

fn units() -> Vec<Unit> {
    (0..70).flat_map(|it| [turn(it), event(it)]).collect()
}

fn fact(number: usize, subject: &str, predicate: &str, object: &str, aspect: Aspect) -> Fact {
    Fact {
        entity: Some(EntityId::from_name(&space(), &subject.to_lowercase())),
        told_by: subject.to_owned(),
        ..sample_fact(&turn(number), [subject, predicate, object], aspect)
    }
}

fn facts() -> Vec<Fact> {
    let mut out = vec![
        fact(0, "Ines", "lives in", "Bergen", Aspect::Place),
        fact(1, "Joar", "likes", "black coffee", Aspect::Preference),
        fact(2, "Ines", "does not like", "black coffee", Aspect::Preference),
        fact(3, "Joar", "likes", "rain", Aspect::Preference),
        fact(4, "Ines", "wants", "short answers", Aspect::Instruction),
        fact(5, "Ines", "works as", "a luthier", Aspect::Work),
    ];
    out[3].valid_until = Some(out[3].recorded_at + TimeDelta::days(9));
    out
}

#[test]
fn pages_depend_only_on_the_set_of_units() {
    let (units, facts) = (units(), facts());
    let rest: Vec<Unit> = units
        .iter()
        .enumerate()
        .filter(|it| it.0 % 13 != 4)
        .map(|it| it.1.clone())
        .collect();
    let of = |units: &[Unit]| {
        let mut world = World::default();
        world.feed(units, &facts);
        world.stored
    };
    let (whole, without) = (of(&units), of(&rest));
    for seed in 1..=5 {
        let mut world = World::default();
        let facts = shuffled(&facts, seed);
        let order = shuffled(&units, seed);
        for (number, batch) in order.chunks(3 + 8 * seed as usize).enumerate() {
            world.feed(batch, facts.get(number..=number).unwrap_or_default());
        }
        world.feed(&[], &facts);
        assert_eq!(world.stored, whole, "order {seed}");
        let removed: Vec<Unit> = units.iter().filter(|it| !rest.contains(it)).map(withdrawn).collect();
        shuffled(&removed, seed).chunks(5).for_each(|it| world.feed(it, &[]));
        assert_eq!(world.stored, without, "order {seed}, some withdrawn");
    }
}

#[test]
fn a_page_describes_its_subject_and_links_to_others() {
    let mut world = World::default();
    world.feed(&units(), &facts());
    let ines = world.page(Dimension::Figure, "Ines");
    assert!(
        ines.summary
            .starts_with("Ines works as a luthier; Ines lives in Bergen. Spoken of "),
        "{}",
        ines.summary
    );
    let categories: Vec<&str> = ines.sections.iter().map(|it| it.category.as_str()).collect();
    assert_eq!(categories, ["events", "instruction", "place", "preference", "work"]);
    assert!((6..=12).contains(&ines.sections[0].lines.len()));
    assert!(ines.sections[0].left_out > 0 && ines.sections[0].lines.is_sorted_by_key(|it| it.observed_at));
    let related = |it: &Page, title: &str| {
        it.links
            .iter()
            .any(|it| it.kind == LinkKind::RelatedTo && it.title == title)
    };
    assert!(related(ines, "Joar") && related(world.page(Dimension::Figure, "Joar"), "Ines"));
    assert!(
        related(ines, "Preferences of Ines") && related(ines, "Bergen"),
        "{:?}",
        ines.links
    );
    let bergen = world.page(Dimension::Place, "Bergen");
    assert!(lines(bergen).contains(&"Ines lives in Bergen"));
    let taste = world.page(Dimension::Preference, "Preferences of Ines");
    let against: Vec<&str> = taste
        .links
        .iter()
        .filter(|it| it.kind == LinkKind::ContrastsWith)
        .map(|it| it.title.as_str())
        .collect();
    assert_eq!(against, ["Preferences of Joar"]);
    let joar = world.page(Dimension::Preference, "Preferences of Joar");
    let until: Vec<bool> = joar.sections[0].lines.iter().map(|it| it.until.is_some()).collect();
    assert_eq!(until, [false, true]);
    let may = world.page(Dimension::Event, "May 2024");
    assert!(may.links.len() <= 16);
}

/// Returns an event in each of `count` months; they begin four months after all units of the world.
fn later_months(count: usize) -> Vec<Unit> {
    let numbers = (0..count).map(|month| 1_500 + 186 * month);
    numbers.map(|it| dated(event(it), it)).collect()
}

#[test]
fn a_page_is_archived_until_it_is_read_again() {
    let mut world = World::default();
    world.feed(&units(), &facts());
    let before = world.page(Dimension::Event, "May 2024").clone();
    assert_eq!(before.status, PageStatus::Active);
    let later = later_months(60);
    world.feed(&later, &[]);
    let then = world.page(Dimension::Event, "May 2024");
    assert_eq!((then.status, then.id), (PageStatus::Archived, before.id));
    assert!(
        then.links
            .iter()
            .any(|it| it.kind == LinkKind::TemporalNext && it.title == "January 2025")
    );
    let now = later[59].observed_at.to_utc();
    world.read.insert(before.id, now);
    world.feed(&[], &[]);
    assert_eq!(world.page(Dimension::Event, "May 2024").status, PageStatus::Active);
    world.read.clear();
    world.feed(&later.iter().map(withdrawn).collect::<Vec<_>>(), &[]);
    assert_eq!(*world.page(Dimension::Event, "May 2024"), before);
}

#[test]
fn one_new_event_after_a_long_silence_archives_nothing() {
    let mut world = World::default();
    world.feed(&units(), &facts());
    let pages = |world: &World, status: PageStatus| {
        let all = world.stored.values();
        all.filter(|it| matches!(it, Derived::Page(it) if it.status == status))
            .count()
    };
    let active = pages(&world, PageStatus::Active);
    assert!((10..40).contains(&active), "{active}");
    world.feed(&later_months(1), &[]);
    assert_eq!(pages(&world, PageStatus::Archived), 0);
    assert!(pages(&world, PageStatus::Active) > active);
    // With many newer pages, those of the world are archived; fifty pages, and a few of the same age, are kept.
    world.feed(&later_months(60), &[]);
    assert!(pages(&world, PageStatus::Archived) > 0);
    assert!(
        (50..70).contains(&pages(&world, PageStatus::Active)),
        "{}",
        pages(&world, PageStatus::Active)
    );
}

#[test]
fn pages_are_archived_in_any_order_of_the_units() {
    let mut all = units();
    all.extend(later_months(60));
    let mut world = World::default();
    world.feed(&all, &facts());
    let mut other = World::default();
    for some in shuffled(&all, 7).chunks(17) {
        other.feed(some, &[]);
    }
    other.feed(&[], &facts());
    let statuses = |world: &World| -> Vec<(PageId, PageStatus)> {
        let pages = world.stored.values();
        pages
            .filter_map(|it| {
                if let Derived::Page(it) = it {
                    Some((it.id, it.status))
                } else {
                    None
                }
            })
            .collect()
    };
    assert!(statuses(&world).iter().any(|it| it.1 == PageStatus::Archived));
    assert_eq!(statuses(&world), statuses(&other));
}

#[test]
fn an_empty_space_has_no_pages() {
    assert_eq!(
        Pages::default().take_changes(&space(), &BTreeMap::new()),
        ChangedObjects::default()
    );
    let mut world = World::default();
    world.feed(
        &[withdrawn(&turn(1))],
        &[fact(1, "Nobody", "likes", "tea", Aspect::Preference)],
    );
    assert_eq!(world.stored, Stored::new());
}
