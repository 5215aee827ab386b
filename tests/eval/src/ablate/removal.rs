//! Removes a part from the content of a space.

use std::collections::BTreeSet;

use domain::derived::{Derived, DerivedId, DerivedKind};
use domain::entity::Entity;
use domain::fact::Origin;
use domain::id::{FactId, PageId, SpaceId, UnitId};
use domain::merge::MergeOf;
use domain::page::{Dimension, Page};
use domain::port::{Graph, Index};
use domain::relation::Relation;
use domain::unit::Grain;

use super::contents::Contents;
use super::part::Part;

/// Number of objects that are written in one step.
const AT_ONCE: usize = 500;

/// Number of objects of a part in a space, before and after the removal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedParts {
    /// Number before the removal.
    pub before: usize,
    /// Number after the removal; 0 if the removal succeeded.
    pub after: usize,
}

/// Objects to delete, and the changed versions of objects that refer to them.
#[derive(Default)]
struct Removal {
    units: BTreeSet<UnitId>,
    relations: Vec<Relation>,
    gone: BTreeSet<DerivedId>,
    changed: Vec<Derived>,
}

/// Removes a part from a space together with objects that only refer to it, and counts the objects of the part before
/// and after.
///
/// # Errors
/// If a store cannot be read or written.
pub async fn take_out(
    graph: &dyn Graph,
    index: &dyn Index,
    space: &SpaceId,
    part: Part,
) -> anyhow::Result<RemovedParts> {
    let contents = Contents::read(graph, space).await?;
    let removal = plan_removal(&contents, part);
    for relations in removal.relations.chunks(AT_ONCE) {
        graph.put_relations(space, relations).await?;
    }
    let units: Vec<UnitId> = removal.units.into_iter().collect();
    for units in units.chunks(AT_ONCE) {
        index.put(space, &[], units).await?;
        graph.put_units(space, &[], units).await?;
    }
    for changed in removal.changed.chunks(AT_ONCE) {
        graph.put_derived(space, changed, &[]).await?;
    }
    let gone: Vec<DerivedId> = removal.gone.into_iter().collect();
    for gone in gone.chunks(AT_ONCE) {
        graph.put_derived(space, &[], gone).await?;
    }
    let after = Contents::read(graph, space).await?;
    Ok(RemovedParts {
        before: part.count(&contents),
        after: part.count(&after),
    })
}

fn plan_removal(contents: &Contents, part: Part) -> Removal {
    let mut removal = Removal::default();
    match part {
        Part::Topics => add_topics(contents, &mut removal),
        Part::Events => add_events(contents, &mut removal),
        Part::Gists => add_gists(contents, &mut removal),
        Part::Facts => {
            removal
                .gone
                .extend(contents.derived_of(DerivedKind::Fact).map(Derived::id));
        }
        Part::Relations => {
            let without = contents.relations.iter().map(|it| Relation {
                weight: 0.0,
                ..it.clone()
            });
            removal.relations = without.collect();
        }
        Part::Synonymy => {
            let entities = contents.entities().filter(|it| !it.synonyms.is_empty()).map(|it| {
                Derived::Entity(Entity {
                    synonyms: Vec::new(),
                    ..it.clone()
                })
            });
            removal.changed = entities.collect();
        }
        Part::Links => {
            let pages = contents.pages().filter(|it| !it.links.is_empty());
            removal.changed = pages
                .map(|it| {
                    Derived::Page(Page {
                        links: Vec::new(),
                        ..it.clone()
                    })
                })
                .collect();
        }
    }
    if !matches!(part, Part::Relations | Part::Synonymy | Part::Links) {
        cut_pages(contents, &mut removal);
    }
    removal
}

fn add_topics(contents: &Contents, removal: &mut Removal) {
    let topics = contents.derived.iter().filter(|it| match it {
        Derived::Topic(_) | Derived::Member(_) => true,
        Derived::Page(page) => page.dimension == Dimension::Topic,
        Derived::Fact(_) | Derived::Entity(_) | Derived::Merge(_) | Derived::Standing(_) => false,
    });
    removal.gone.extend(topics.map(Derived::id));
}

/// Adds the events. Topics are clusters of events, so they are removed too.
fn add_events(contents: &Contents, removal: &mut Removal) {
    add_topics(contents, removal);
    removal.units.extend(contents.units_of(Grain::Event).map(|it| it.id));
    let made_of_events = contents.derived.iter().filter(|it| match it {
        Derived::Standing(_) => true,
        Derived::Merge(merge) => merge.of == MergeOf::Units,
        Derived::Page(page) => page.dimension == Dimension::Event,
        Derived::Fact(_) | Derived::Entity(_) | Derived::Topic(_) | Derived::Member(_) => false,
    });
    removal.gone.extend(made_of_events.map(Derived::id));
}

/// Adds the gists. Facts that the language model wrote are removed with them.
fn add_gists(contents: &Contents, removal: &mut Removal) {
    removal.units.extend(contents.units_of(Grain::Gist).map(|it| it.id));
    let facts = contents.facts().filter(|it| it.origin == Origin::Model);
    let facts: Vec<DerivedId> = facts
        .map(|it| DerivedId {
            kind: DerivedKind::Fact,
            id: it.id.uuid(),
        })
        .collect();
    removal.gone.extend(facts);
}

/// Removes lines and links to deleted objects from the pages that stay. A page without lines is deleted too.
fn cut_pages(contents: &Contents, removal: &mut Removal) {
    let of_kind = |removal: &Removal, kind: DerivedKind| -> BTreeSet<_> {
        removal
            .gone
            .iter()
            .filter(|it| it.kind == kind)
            .map(|it| it.id)
            .collect()
    };
    let facts: BTreeSet<FactId> = of_kind(removal, DerivedKind::Fact)
        .into_iter()
        .map(FactId::from_uuid)
        .collect();
    let mut cut: Vec<Page> = Vec::new();
    let gone = removal.gone.clone();
    for page in contents.pages().filter(|it| !gone.contains(&id_of(it))) {
        let mut page = page.clone();
        for section in &mut page.sections {
            let stays = |line: &domain::page::Line| {
                !removal.units.contains(&line.unit) && line.fact.is_none_or(|it| !facts.contains(&it))
            };
            section.lines.retain(&stays);
            section.former.retain(|it| stays(&it.line));
        }
        page.sections.retain(|it| !it.lines.is_empty() || !it.former.is_empty());
        if page.sections.is_empty() {
            removal.gone.insert(id_of(&page));
        } else {
            cut.push(page);
        }
    }
    let pages: BTreeSet<PageId> = of_kind(removal, DerivedKind::Page)
        .into_iter()
        .map(PageId::from_uuid)
        .collect();
    for mut page in cut {
        page.links.retain(|it| !pages.contains(&it.page));
        // Writing an unchanged page has no effect.
        removal.changed.push(Derived::Page(page));
    }
}

fn id_of(page: &Page) -> DerivedId {
    DerivedId {
        kind: DerivedKind::Page,
        id: page.id.uuid(),
    }
}
