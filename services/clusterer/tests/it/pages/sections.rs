use domain::fact::{Aspect, Fact};
use domain::page::Dimension;
use domain::unit::Unit;

use super::{World, fact, lines};
use crate::world::turn;

#[test]
fn long_sections_keep_their_best_lines() {
    let mut world = World::default();
    let plain = |it: usize| format!("We carried crate {it} into the shed beside the harbour wall.");
    let rich = |it: usize| {
        format!("Edda sold {it} jars of heather honey to the Bergen market for 90 euros on Friday morning.")
    };
    let units: Vec<Unit> = (0..60)
        .map(|it| {
            let mut unit = turn(it);
            unit.text = if it % 6 == 5 { rich(it) } else { plain(it) };
            unit.summary = format!("[1 May 2024] Ines: {}", unit.text);
            unit.actor = "Ines".to_owned();
            unit.addressee.clear();
            unit
        })
        .collect();
    let mut facts: Vec<Fact> = (0..30)
        .map(|it| Fact {
            confidence: if it % 5 == 0 { 0.95 } else { 0.6 },
            ..fact(it, "Ines", "owns", &format!("crate {it}"), Aspect::Possession)
        })
        .collect();
    for fact in facts.iter_mut().take(5) {
        fact.valid_until = Some(fact.recorded_at);
    }
    world.feed(&units, &facts);
    let page = world.page(Dimension::Figure, "Ines");
    let [events, owned] = &page.sections[..] else {
        panic!("{:?}", page.sections);
    };
    assert_eq!((events.lines.len(), events.left_out), (12, 48));
    let rich: usize = events
        .lines
        .iter()
        .filter(|it| it.text.contains("heather honey"))
        .count();
    assert_eq!(rich, 10);
    assert!(events.lines.is_sorted_by_key(|it| it.observed_at));
    // Current facts come first, by confidence and then the newest. Closed ones are left out.
    assert_eq!((owned.lines.len(), owned.left_out), (12, 18));
    assert!(owned.lines.iter().all(|it| it.until.is_none()));
    let sure = ["crate 5", "crate 10", "crate 15", "crate 20", "crate 25"];
    assert!(
        sure.iter()
            .all(|it| owned.lines.iter().any(|line| line.text.ends_with(it)))
    );
}

#[test]
fn a_long_text_gives_a_line_of_bounded_length() {
    let mut world = World::default();
    let mut unit = turn(0);
    unit.text = format!(
        "Edda wrote {} and 7 letters.",
        "größere Gärten über Ålesund ".repeat(400)
    );
    unit.summary = format!("[1 May 2024] Ines: {}", unit.text);
    world.feed(&[unit, turn(1), turn(2)], &[]);
    let page = world.page(Dimension::Figure, "Ines");
    let lines = lines(page);
    assert!(!lines.is_empty() && lines.iter().all(|it| it.len() <= 230), "{lines:?}");
}

#[test]
fn lines_quote_text_and_no_code() {
    let mut world = World::default();
    let mut unit = turn(0);
    unit.text =
        "I sold 7 jars of my heather honey to them yesterday.\n```\nlet Bergen = honey + 7 * jars + market + 90;\n```"
            .to_owned();
    unit.summary =
        "[1 May 2024] Ines: Ines sold 7 jars of Ines's heather honey to them yesterday (30 April 2024).".to_owned();
    world.feed(&[unit, turn(1), turn(2)], &[]);
    let page = world.page(Dimension::Figure, "Ines");
    let lines = lines(page);
    assert!(
        lines.contains(&"Ines: I sold 7 jars of my heather honey to them yesterday."),
        "{lines:?}"
    );
    assert!(lines.iter().all(|it| !it.contains("let Bergen")), "{lines:?}");
}
