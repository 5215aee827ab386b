//! Prints topics, entities, pages and undecided pairs of events of a space:
//! `cargo run -p clusterer --example organise -- units.jsonl`.
//!
//! The file contains one unit per line, in the form of the API's list of units.
#![expect(clippy::print_stdout, reason = "the print is the output")]

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use clusterer::{Acts, ChangedObjects, Entities, Events, Pages, Pair, Topics};
use domain::derived::Derived;
use domain::id::{SpaceId, UnitId};
use domain::page::{Dimension, Page};
use domain::topic::{Member, Topic};
use domain::unit::{Grain, Unit};

fn main() -> anyhow::Result<()> {
    let space: SpaceId = "home".parse()?;
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        let units = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<Vec<Unit>, _>>()?;
        println!("# {path}: {} units", units.len());
        organise(&space, &units);
    }
    Ok(())
}

fn organise(space: &SpaceId, units: &[Unit]) {
    let (mut topics, mut pages) = (Topics::default(), Pages::default());
    let (mut entities, mut events) = (Entities::default(), Events::default());
    let (table, acts) = (text::EmbeddingTable::builtin(), Acts::default());
    for unit in units {
        let vector = table.embed_text(&unit.summary).into();
        topics.apply_unit(unit, Some(&vector));
        events.apply_unit(unit, Some(&vector));
        entities.apply_unit(unit);
        pages.apply_unit(unit);
    }
    let changed = topics.take_changes(&Acts::default());
    print_topics(&changed, units);
    pages.apply_changes(&changed);
    print_unsure(&events.pairs_to_look_up(), units);
    let changed = events.take_changes(&acts);
    print_merges(&changed);
    pages.apply_changes(&changed);
    let changed = entities.take_changes(space, &acts);
    print_entities(&changed);
    pages.apply_changes(&changed);
    print_pages(&pages.take_changes(space, &BTreeMap::new()));
}

fn print_topics(changed: &ChangedObjects, units: &[Unit]) {
    let put = changed.put.iter();
    let mut topics: Vec<&Topic> = put
        .clone()
        .filter_map(|it| if let Derived::Topic(it) = it { Some(it) } else { None })
        .collect();
    let members: Vec<&Member> = put
        .filter_map(|it| if let Derived::Member(it) = it { Some(it) } else { None })
        .collect();
    topics.sort_by_key(|it| std::cmp::Reverse(it.units));
    for topic in topics {
        println!(
            "\n## {} ({} events): {}",
            topic.label,
            topic.units,
            topic.keywords.join(" / ")
        );
        for member in members.iter().filter(|it| it.topic == topic.id) {
            let unit = units.iter().find(|it| it.id == member.unit);
            let shown = unit.map(|it| it.text.replace('\n', " | ")).unwrap_or_default();
            println!(
                "  {:.2} {}",
                member.similarity,
                shown.chars().take(150).collect::<String>()
            );
        }
    }
}

/// Prints the pairs about which a language model would be asked, in the form in which it would be shown them.
fn print_unsure(pairs: &[Pair], units: &[Unit]) {
    let asked: BTreeSet<UnitId> = pairs.iter().map(|it| it.later).collect();
    let turns = units.iter().filter(|it| it.grain == Grain::Turn).count();
    println!(
        "\n## unsure: {} pairs of {} events, {turns} turns",
        pairs.len(),
        asked.len()
    );
    for pair in pairs {
        for id in [pair.earlier, pair.later] {
            let unit = units.iter().find(|it| it.id == id);
            let shown = unit.map(|it| it.summary.replace('\n', " | ")).unwrap_or_default();
            println!("  {}", shown.chars().take(400).collect::<String>());
        }
        println!();
    }
}

fn print_merges(changed: &ChangedObjects) {
    println!("\n## merges and relations of events");
    for item in &changed.put {
        if let Derived::Merge(it) = item {
            println!(
                "  {:.2} {:?} same {} ({:?}): {}",
                it.similarity, it.names, it.same_event, it.relation_type, it.reason
            );
        }
    }
}

fn print_entities(changed: &ChangedObjects) {
    println!("\n## entities");
    for item in &changed.put {
        if let Derived::Entity(it) = item {
            println!(
                "  {} {:?} {:?} {:?} x{}",
                it.name, it.kind, it.aliases, it.roles, it.mentions
            );
        }
    }
}

fn print_pages(changed: &ChangedObjects) {
    let mut pages: Vec<&Page> = changed
        .put
        .iter()
        .filter_map(|it| if let Derived::Page(it) = it { Some(it) } else { None })
        .collect();
    pages.sort_by(|a, b| (a.dimension, &a.title).cmp(&(b.dimension, &b.title)));
    for dimension in Dimension::ALL {
        println!("\n## dimension {}", dimension.name());
        for page in pages.iter().filter(|it| it.dimension == dimension) {
            print_page(page);
        }
    }
}

fn print_page(page: &Page) {
    println!("\n### {} {:?} {:?}", page.title, page.aliases, page.status);
    println!("{} tags: {}", page.summary, page.tags.join(", "));
    for section in &page.sections {
        println!("  [{}] {} (+{})", section.category, section.title, section.left_out);
        for line in &section.lines {
            let until = line
                .until
                .map(|it| format!(" until {}", it.date_naive()))
                .unwrap_or_default();
            println!("    {} {}{until}", line.observed_at.date_naive(), line.text);
        }
    }
    for link in &page.links {
        println!("  -> {:?} {} {:.2}", link.kind, link.title, link.weight);
    }
}
