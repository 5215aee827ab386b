//! Tests of roles that people have in relation to others.

use clusterer::Acts;
use domain::entity::EntityKind;

use crate::entities::{apply_units, resolved, talk};
use crate::held::Held;

#[test]
fn a_role_resolves_to_a_person_once_the_name_was_stated() {
    // The lines, then who says which phrase, and the expected person.
    for (lines, asked, expected) in [
        ("Tom: I saw my sister Ana today.", "Tom: my sister", "Ana"),
        ("Tom: I saw my sister Ana today.", "Bo: my sister", ""),
        ("Tom: I saw my sister Ana today.", "Bo: Tom's sister", "Ana"),
        ("Tom: I saw my sister today. We met Ana there.", "Tom: my sister", ""),
        ("Tom: I have a brother. His name is Ravi.", "Tom: my brother", "Ravi"),
        (
            "Tom: My wife is called Mona Lisa Berg.",
            "Tom: my wife",
            "Mona Lisa Berg",
        ),
        ("Tom: My mum's name is Ines.", "Tom: my mother", "Ines"),
        ("Tom: I went with Ana, my sister, to Oslo.", "Tom: my sister", "Ana"),
        // Ambiguous: two people, or three.
        ("Tom: I went with Ana, my sister, and Bo.", "Tom: my sister", ""),
        ("Tom: It was me, my sister, Bo and Ana.", "Tom: my sister", ""),
        ("Tom: So Ana is my older sister.", "Tom: my sister", "Ana"),
        (
            "Tom: So Ana is my older sister. And my little sister Eva.",
            "Tom: my sister",
            "",
        ),
        (
            "Tom: So Ana is my older sister. And my little sister Eva.",
            "Tom: my younger sister",
            "Eva",
        ),
        ("Tom: I met my friend Ben.", "Tom: my friend", ""),
        ("Bo: I saw Tom's boss Ana.", "Tom: my boss", "Ana"),
        ("Tom: We took our dog Rex out.", "Tom: our dog", "Rex"),
        ("Tom: Hello.", "Tom: me", "Tom"),
    ] {
        let (entities, _) = apply_units(&talk(&[lines]), &Acts::default());
        let (actor, phrase) = asked.split_once(": ").unwrap();
        let found = resolved(&entities, actor, phrase);
        assert_eq!(found.unwrap_or_default(), expected, "{lines} {asked}");
    }
    let (_, held) = apply_units(&talk(&["Tom: I saw my sister Ana today."]), &Acts::default());
    let ana = held.entity("Ana");
    assert_eq!(
        (ana.kind, ana.roles.join(",").as_str()),
        (EntityKind::Person, "Tom's sister")
    );
}

#[test]
fn roles_are_read_from_the_addressee_and_from_answers() {
    let mut units = talk(&["Bo: How is your sister Ana?", "Tom: Fine.", "Tom: Julia."]);
    units[0].addressee = "Tom".to_owned();
    units[2].question = "What is your wife's name?".to_owned();
    let (entities, _) = apply_units(&units, &Acts::default());
    assert_eq!(resolved(&entities, "Tom", "my sister").as_deref(), Some("Ana"));
    assert_eq!(resolved(&entities, "Tom", "my wife").as_deref(), Some("Julia"));
}

#[test]
fn of_several_namesakes_each_speaker_means_their_own() {
    let several = [
        "Nora: I saw my sister Ana.",
        "Ben: I saw my boss Ana.",
        "Tom: We took our dog Ana out.",
    ];
    for (added, asked, expected) in [
        ("Eva: Hello.", "Nora: Ana", "Nora's sister"),
        ("Eva: Hello.", "Nora: my sister", "Nora's sister"),
        ("Eva: Hello.", "Ben: Ana", "Ben's boss"),
        ("Eva: Hello.", "Ben: Nora's sister", "Nora's sister"),
        ("Eva: Hello.", "Tom: Ana", "Tom's dog"),
        ("Eva: Hello.", "Nora: me", "Nora"),
        // Nothing says which one is meant.
        ("Eva: Hello.", "Eva: Ana", ""),
        ("Eva: I saw Ben's boss Ana.", "Eva: Ana", "Ben's boss"),
        // A namesake with two roles is distinguished from the third one by both.
        ("Nora: I saw Ben's boss Ana.", "Nora: Ana", "Ben's boss"),
        ("Nora: I saw Ben's boss Ana.", "Tom: Ana", "Tom's dog"),
        ("Ana: Hello.", "Nora: Ana", "Ana"),
    ] {
        let (entities, _) = apply_units(&talk(&[&several[..], &[added][..]].concat()), &Acts::default());
        let (actor, phrase) = asked.split_once(": ").unwrap();
        let found = resolved(&entities, actor, phrase);
        assert_eq!(found.unwrap_or_default(), expected, "{added} {asked}");
    }
}

#[test]
fn an_entity_lists_its_namesakes() {
    let lines = [
        "Nora: I saw my sister Ana.",
        "Ben: I saw my boss Ana.",
        "Eva: I saw Ben's boss Ana.",
        "Tom: Ana was there.",
    ];
    let (_, held) = apply_units(&talk(&lines), &Acts::default());
    let bearers = |held: &Held| -> Vec<String> {
        let bearers = held.entity("Ana").bearers.iter();
        bearers
            .map(|it| format!("{} of {}: {}", it.name, it.tellers.join(", "), it.roles.join(", ")))
            .collect()
    };
    assert_eq!(
        bearers(&held),
        [
            "Ben's boss of Ben, Eva: Ben's boss",
            "Nora's sister of Nora: Nora's sister"
        ]
    );
    let (_, held) = apply_units(&talk(&[&lines[..], &["Ana: Hello."]].concat()), &Acts::default());
    assert!(bearers(&held).is_empty(), "whoever speaks is one");
    let (_, held) = apply_units(&talk(&lines[..1]), &Acts::default());
    assert!(bearers(&held).is_empty());
}

#[test]
fn a_name_is_one_person_unless_its_roles_contradict() {
    for (one, other) in [
        ("sister", "sister"),
        ("sister", "friend"),
        ("boss", "neighbour"),
        ("boss", "coach"),
        ("wife", "mother"),
        ("dog", "dog"),
    ] {
        let lines = [
            format!("Nora: I saw my {one} Ana."),
            format!("Ben: I saw my {other} Ana."),
        ];
        let (entities, _) = apply_units(&talk(&[&lines[0], &lines[1]]), &Acts::default());
        for asked in ["Nora", "Ben", "Eva"] {
            assert_eq!(
                resolved(&entities, asked, "Ana").as_deref(),
                Some("Ana"),
                "{one} {other}"
            );
        }
    }
    let known = [
        "Nora: I saw my sister Ana.",
        "Ben: I saw my boss Ana.",
        "Ben: Hi, Nora! How is Nora's sister Ana?",
    ];
    let (entities, _) = apply_units(&talk(&known), &Acts::default());
    assert_eq!(
        resolved(&entities, "Eva", "Ana").as_deref(),
        Some("Ana"),
        "Ben knows both roles of her"
    );
}
