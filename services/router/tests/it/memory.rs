//! Derived objects as they were known at a moment, in any order of delivery.

use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::fact::Former;
use domain::id::{CurationId, UnitId};
use domain::page::{Dimension, FormerLine, PageStatus};
use domain::port::DerivedChange;
use router::space::memory::{Memory, MemoryAsOf};

use crate::derived::{all_units, at, derived, event_at, page_id, turn};
use crate::talk::space;

fn memory() -> Memory {
    Memory::from_units_and_derived(all_units(), derived())
}

/// Returns the known derived objects and the cues like "beagle" as text, one line for each.
fn render_memory(known: MemoryAsOf<'_>) -> String {
    let mut lines: Vec<String> = known
        .all_facts()
        .map(|it| {
            format!(
                "{} {} {} until {:?}",
                it.subject, it.predicate, it.object, it.valid_until
            )
        })
        .collect();
    lines.extend(known.all_entities().map(|it| it.name.clone()));
    lines.extend(
        known
            .all_topics()
            .map(|it| format!("{} {:?}", it.label, known.units_of(it.id))),
    );
    lines.extend(known.all_events().map(|it| it.tag.clone()));
    lines.extend(known.all_merges().map(|it| it.reason.clone()));
    for dimension in Dimension::ALL {
        for page in known.pages_of_dimension(dimension) {
            let texts = page.sections.iter().flat_map(|it| &it.lines);
            lines.extend(texts.map(|it| format!("{}: {} until {:?}", page.title, it.text, it.until)));
        }
    }
    for cue in known.cues_like("beagle") {
        lines.push(format!("{cue} {:?}", known.tags_of_cue(cue)));
    }
    lines.join("\n")
}

fn acts(acts: &[Act]) -> Vec<Curation> {
    let numbered = acts.iter().enumerate();
    numbered
        .map(|(number, act)| Curation {
            id: CurationId::from_external_id(&space(), &number.to_string()),
            at: chrono::DateTime::from_timestamp(number as i64, 0).unwrap(),
            by: String::new(),
            act: act.clone(),
            reason: String::new(),
        })
        .collect()
}

#[test]
fn a_memory_returns_the_facts_known_at_a_moment() {
    let memory = memory();
    for (moment, there, not) in [
        ("2024-03-01T00:00:00Z", vec![], vec!["Liv", "Omar", "pets", "dog"]),
        (
            "2024-03-02T10:02:30Z",
            vec!["a dog named Biscuit", "Omar", "Liv: has a dog"],
            vec!["Noor", "pets", "likes cats", "lives in"],
        ),
        (
            "2024-03-02T10:03:00Z",
            vec!["pets", "dog adoption", "Noor: wants a beagle", "likes cats"],
            vec!["Oslo", "Bergen", "the same dog"],
        ),
        // He had moved in April, but had not said so yet.
        (
            "2024-05-01T00:00:00Z",
            vec![
                "lives in Bergen until None",
                "Omar: lives in Bergen until None",
                "two bowls",
            ],
            vec!["Oslo", "the same dog"],
        ),
        (
            "2024-06-01T00:00:00Z",
            vec![
                "lives in Bergen until Some(2024-04-20",
                "lives in Oslo until None",
                "Oslo: Omar lives",
                "the same dog",
            ],
            vec!["kilns", "biscuit hike"],
        ),
    ] {
        let text = render_memory(memory.known_at(Some(at(moment))));
        there
            .iter()
            .for_each(|it| assert!(text.contains(it), "{moment} lacks {it}:\n{text}"));
        not.iter()
            .for_each(|it| assert!(!text.contains(it), "{moment} has {it}:\n{text}"));
    }
    let early = memory.known_at(Some(at("2024-05-01T00:00:00Z")));
    let page = early.find_page(page_id(Dimension::Figure, "omar")).unwrap();
    assert_eq!(
        (page.summary.as_str(), page.tags.len(), page.links.len()),
        ("lives in Bergen", 1, 1)
    );
    let section = |known: MemoryAsOf<'_>| known.find_page(page.id).unwrap().sections[0].clone();
    assert_eq!(section(early).summary, None, "it tells of the move");
    assert_eq!(
        section(memory.known_at(None)).summary.as_deref(),
        Some("Omar moved from Bergen to Oslo.")
    );
    assert_eq!(
        render_memory(memory.known_at(None)),
        render_memory(memory.known_at(Some(at("2024-06-01T00:00:00Z"))))
    );
}

#[test]
fn the_order_of_delivery_does_not_matter() {
    let expected = render_memory(memory().known_at(None));
    let mut late = Memory::default();
    let derived: Vec<DerivedChange> = derived()
        .into_iter()
        .rev()
        .map(|it| DerivedChange {
            sequence: 1,
            id: it.id(),
            item: Some(it),
        })
        .collect();
    late.take_derived(derived.clone());
    late.take_units(&units(|it| it));
    assert_eq!(
        (render_memory(late.known_at(None)), late.size_in_bytes()),
        (expected.clone(), memory().size_in_bytes())
    );
    // All objects are removed and added again.
    late.take_units(&units(|it| it.without_content()));
    late.take_derived(derived.iter().map(|it| DerivedChange {
        item: None,
        ..it.clone()
    }));
    assert_eq!(
        (render_memory(late.known_at(None)), late.size_in_bytes()),
        (String::new(), 0)
    );
    late.take_units(&units(|it| it));
    late.take_derived(derived);
    assert_eq!(render_memory(late.known_at(None)), expected);
}

fn units(change: impl Fn(domain::unit::Unit) -> domain::unit::Unit) -> Vec<domain::unit::Unit> {
    all_units().into_iter().rev().map(change).collect()
}

#[test]
fn facts_and_entities_are_found_by_every_name() {
    let memory = memory();
    let known = memory.known_at(None);
    let objects = |name: &str| {
        let facts = known.facts_about(name);
        facts
            .iter()
            .map(|it| it.object.clone())
            .collect::<Vec<String>>()
            .join(", ")
    };
    assert_eq!(objects("OZ"), format!("cats, Bergen, {}, Oslo", bowls(known)));
    assert_eq!(objects("noor"), "a beagle");
    assert_eq!(objects("Noor's"), "a beagle");
    assert_eq!(objects("nobody"), "");
    assert_eq!(known.entities_called("omar's sister")[0].name, "Noor");
    assert_eq!(known.facts_naming("oslo").len(), 1);
    assert_eq!(known.find_cue("Beagles"), Some("beagle"));
    assert_eq!(
        known.event_of(turn(7)),
        Some(event_at(0)),
        "a merged event counts as the one it went into"
    );
    assert_eq!(known.find_event(event_at(7)).unwrap().tag, "biscuit hike");
    assert_eq!(known.pages_called("OMAR")[0].title, "Omar");
    assert_eq!(known.find_topic_member(turn(5)).map(|it| it.unit), Some(event_at(4)));
}

/// Facts of one moment are sorted by id.
fn bowls(known: MemoryAsOf<'_>) -> String {
    let mut facts: Vec<_> = known.facts_from(turn(6)).collect();
    facts.sort_by_key(|it| it.id);
    facts
        .iter()
        .map(|it| it.object.clone())
        .collect::<Vec<String>>()
        .join(", ")
}

#[test]
fn forgotten_units_are_not_returned() {
    let mut memory = memory();
    let forget = |unit: UnitId| Act::ForgetUnit { unit };
    assert!(memory.apply_curations(&acts(&[forget(turn(0))])));
    let text = render_memory(memory.known_at(None));
    for gone in ["dog named Biscuit", "Liv: has", "dog adoption"] {
        assert!(!text.contains(gone), "{gone}:\n{text}");
    }
    assert!(text.contains("Noor: wants a beagle"), "{text}");
    // A later pin cancels the forgetting; forgetting an event forgets its turns.
    let pinned = [forget(turn(0)), Act::PinUnit { unit: turn(0) }, forget(event_at(4))];
    memory.apply_curations(&acts(&pinned));
    let text = render_memory(memory.known_at(None));
    assert!(text.contains("dog named Biscuit") && !text.contains("bowls"), "{text}");
    assert!(memory.is_pinned(turn(0)) && !memory.is_pinned(turn(1)) && memory.is_forgotten(turn(5)));
    let undone = [
        forget(event_at(4)),
        Act::Undo {
            curation: acts(&pinned)[0].id,
        },
    ];
    memory.apply_curations(&acts(&undone));
    assert!(memory.is_decided(&[]) && render_memory(memory.known_at(None)).contains("bowls"));
}

/// All lines of Liv's page were taken back. The page is still returned as of an earlier moment, unless its unit is
/// forgotten.
#[test]
fn withdrawn_lines_are_returned_for_earlier_moments() {
    let (taken, before) = (at("2024-06-01T00:00:00Z"), Some(at("2024-05-31T00:00:00Z")));
    let back = |mut item: Derived| {
        if let Derived::Page(page) = &mut item
            && page.title == "Liv"
        {
            let lines = std::mem::take(&mut page.sections[0].lines).into_iter();
            let former = lines.map(|line| FormerLine {
                known_until: taken,
                line,
            });
            page.sections[0].former = former.collect();
            page.status = PageStatus::Former;
        }
        if let Derived::Fact(fact) = &mut item
            && fact.object == "a dog named Biscuit"
        {
            let fact_id = Some(fact.clone());
            fact.former = vec![Former {
                until: taken,
                fact: fact_id,
            }];
            fact.withdrawn = true;
        }
        item
    };
    let liv = |known: MemoryAsOf<'_>| -> Vec<String> {
        let pages = known
            .pages_of_dimension(Dimension::Figure)
            .filter(|it| it.title == "Liv");
        pages
            .flat_map(|it| {
                assert_eq!(it.status, PageStatus::Active);
                it.sections[0]
                    .lines
                    .iter()
                    .map(|it| it.text.clone())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let mut memory = Memory::from_units_and_derived(all_units(), derived().into_iter().map(back));
    assert_eq!(liv(self::memory().known_at(before)), liv(memory.known_at(before)));
    assert_eq!(liv(memory.known_at(before)), ["has a dog named Biscuit"]);
    assert!(liv(memory.known_at(Some(taken))).is_empty() && liv(memory.known_at(None)).is_empty());
    memory.apply_curations(&acts(&[Act::ForgetUnit { unit: turn(0) }]));
    assert!(liv(memory.known_at(before)).is_empty());
}
