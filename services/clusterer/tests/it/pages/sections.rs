use domain::fact::{Aspect, Fact};
use domain::page::{Dimension, Line};
use domain::unit::Unit;

use super::{World, fact, lines, units};
use crate::world::{event, turn};

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

#[test]
fn an_instruction_that_is_no_verb_phrase_follows_a_colon_on_pages() {
    let mut world = World::default();
    let asking = |number, object| fact(number, "Ines", "asks to", object, Aspect::Instruction);
    let instructions = [asking(0, "no orm"), asking(1, "answer in French")];
    world.feed(&[turn(0), turn(1), turn(2)], &instructions);
    let page = world.page(Dimension::Preference, "Preferences of Ines");
    assert_eq!(lines(page), ["Ines asks: no orm", "Ines asks to answer in French"]);
}

#[test]
fn an_instruction_that_forbids_something_is_denied_on_pages() {
    let mut world = World::default();
    let asking = |number, object| fact(number, "Ines", "asks to", object, Aspect::Instruction);
    let instructions = [
        asking(0, "do not change the names"),
        asking(1, "don't call before nine"),
    ];
    world.feed(&[turn(0), turn(1), turn(2)], &instructions);
    let page = world.page(Dimension::Preference, "Preferences of Ines");
    let expected = ["Ines asks not to change the names", "Ines asks not to call before nine"];
    assert_eq!(lines(page), expected);
}

/// Returns turns of Ines with these texts.
fn turns_of_ines(texts: &[&str]) -> Vec<Unit> {
    let turn_with = |(number, text): (usize, &&str)| {
        let mut unit = turn(number);
        unit.actor = "Ines".to_owned();
        unit.text = (*text).to_owned();
        unit.summary = format!("[1 May 2024] Ines: {text}");
        unit
    };
    texts.iter().enumerate().map(|it| turn_with((it.0, it.1))).collect()
}

#[test]
fn headings_and_dates_are_in_the_language_of_the_lines() {
    for (texts, titles, summary) in [
        (
            [
                "Mi hermana vive en Lisboa y tiene dos gatos muy grandes.",
                "Trabajo en el puerto desde marzo y me gusta mucho.",
                "Ayer compramos una bicicleta para nuestro hijo pequeño.",
            ],
            ["Qué pasó", "Gustos y aversiones"],
            "3 menciones, el 1 de mayo de 2024",
        ),
        (
            [
                "Meine Schwester wohnt in Graz und hat zwei große Hunde.",
                "Ich arbeite seit März am Hafen und mag die Arbeit sehr.",
                "Gestern haben wir ein Fahrrad für unseren Sohn gekauft.",
            ],
            ["Was geschah", "Vorlieben und Abneigungen"],
            "3-mal erwähnt, am 1. Mai 2024",
        ),
        (
            [
                "My sister lives in Lisbon and has two very large cats.",
                "I have worked at the harbour since March and like it a lot.",
                "We bought a bicycle for our little son yesterday.",
            ],
            ["What happened", "Likes and dislikes"],
            "Spoken of 3 times, on 1 May 2024",
        ),
    ] {
        let mut world = World::default();
        let likes = fact(0, "Ines", "likes", "the harbour", Aspect::Preference);
        world.feed(&turns_of_ines(&texts), &[likes]);
        let page = world.page(Dimension::Figure, "Ines");
        let shown: Vec<&str> = page.sections.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(shown, titles);
        assert!(page.summary.contains(summary), "{}", page.summary);
        // The names for programs stay.
        let categories: Vec<&str> = page.sections.iter().map(|it| it.category.as_str()).collect();
        assert_eq!(categories, ["events", "preference"]);
    }
}

#[test]
fn a_month_is_named_in_the_language_of_its_lines() {
    let mut world = World::default();
    let texts = [
        "Mi hermana vive en Lisboa y tiene dos gatos muy grandes.",
        "Trabajo en el puerto desde marzo y me gusta mucho.",
    ];
    let events: Vec<Unit> = (0..2)
        .map(|it| crate::world::event_with_sentence(it, texts[it]))
        .collect();
    world.feed(&events, &[]);
    assert!(!lines(world.page(Dimension::Event, "mayo de 2024")).is_empty());
    let mut world = World::default();
    world.feed(&[crate::world::event(0), crate::world::event(1)], &[]);
    assert!(!lines(world.page(Dimension::Event, "May 2024")).is_empty());
}

#[test]
fn preferences_are_titled_in_their_language() {
    let mut world = World::default();
    let likes = fact(
        0,
        "Ines",
        "prefiere",
        "los gatos que tiene mi hermana",
        Aspect::Preference,
    );
    world.feed(&[turn(0), turn(1)], &[likes]);
    let page = world.page(Dimension::Preference, "Preferencias de Ines");
    assert_eq!(page.sections[0].title, "Gustos y aversiones");
}

#[test]
fn a_topic_page_shows_only_facts_with_a_word_of_its_label_or_keywords() {
    let mut world = World::default();
    let stated = [
        fact(0, "Ines", "owns", "two beehives", Aspect::Possession),
        fact(0, "Ines", "owns", "a canoe", Aspect::Possession),
    ];
    world.feed(&units(), &stated);
    let topic = world.topic_of_event(event(0).id);
    let page = world.topic_page(topic);
    assert!(page.title.contains("beehive"), "{}", page.title);
    let possessions = page.sections.iter().filter(|it| it.category == "possession");
    let possessions: Vec<&Line> = possessions.flat_map(|it| &it.lines).collect();
    let texts: Vec<&str> = possessions.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["Ines owns two beehives"]);
    let figure = lines(world.page(Dimension::Figure, "Ines"));
    assert!(figure.contains(&"Ines owns a canoe"), "{figure:?}");
}
