use std::collections::{BTreeMap, BTreeSet};

use domain::id::UnitId;
use domain::record::Record;
use domain::relation::{Relation, RelationKind};
use domain::unit::{Grain, Unit};
use writer::{Stretch, derive_segments, plan_segments, write_turn_units};

use crate::{call, talk};

/// Returns the units and relations that are derived from a whole session at once.
fn organised(records: Vec<Record>) -> (Vec<Unit>, Vec<Relation>) {
    let fresh: BTreeSet<_> = records.iter().map(|it| it.id).collect();
    let turns = write_turn_units(&records, &(0..records.len()).collect::<Vec<_>>());
    let stored: BTreeMap<UnitId, Unit> = turns.into_iter().map(|it| (it.id, it)).collect();
    let stretch = Stretch {
        records,
        starts: true,
        ends: true,
    };
    let segments = derive_segments(&stretch, &plan_segments(&stretch, &fresh), &stored);
    (segments.units, segments.relations)
}

/// Returns the relations between turns as `2 causes 1`, by the numbers of the records.
fn describe_relations(records: &[Record]) -> Vec<String> {
    let (_, relations) = organised(records.to_vec());
    let number = |id: UnitId| {
        records
            .iter()
            .position(|it| UnitId::of_turn(it.id) == id)
            .map(|it| it + 1)
    };
    let pairs = relations
        .iter()
        .filter_map(|it| Some((number(it.source)?, it.kind, number(it.target)?)));
    let mut out: Vec<String> = pairs
        .map(|(source, kind, target)| format!("{source} {kind:?} {target}"))
        .collect();
    out.sort();
    out
}

#[test]
fn relations_follow_from_the_text_of_turns() {
    for (lines, expected) in [
        (
            vec!["Ana: Why did you move?", "Tom: Because the rent rose."],
            vec!["1 FollowsUp 2", "2 Causes 1"],
        ),
        (
            vec!["Ana: So why did you become a nurse?", "Tom: My aunt was one."],
            vec!["1 FollowsUp 2", "2 Motivates 1"],
        ),
        (
            vec!["Tom: The rent rose again.", "Tom: That's why we moved."],
            vec!["1 Causes 2"],
        ),
        (
            vec!["Tom: My teacher played the cello.", "Tom: That inspired me a lot."],
            vec!["1 Motivates 2"],
        ),
        (
            vec!["Tom: I love tea.", "Ana: But tea keeps me awake."],
            vec!["1 Contrasts 2"],
        ),
        (vec!["Tom: I love tea.", "Ana: But wait!"], vec![]),
        (
            vec!["Tom: I grow herbs.", "Tom: For example, herbs like basil."],
            vec!["2 Elaborates 1"],
        ),
        (
            vec!["Tom: I ran on 5 May 2023.", "Tom: I trained on 1 May 2023."],
            vec!["2 Before 1"],
        ),
        // An unspecified day in May is neither before nor after the fifth.
        (
            vec!["Tom: I ran in May 2023.", "Tom: I ran and trained on 5 May 2023."],
            vec![],
        ),
        (
            vec![
                "Tom: I ran on 5 May 2023.",
                "Tom: The running course went until 1 May 2023.",
            ],
            vec![],
        ),
        (
            vec!["Tom: I ran on 5 May 2023.", "Tom: If I ran on 1 May 2023, I forgot it."],
            vec![],
        ),
        (
            vec!["Ana: Let us paint the fence.", "Tom: Not the fence!"],
            vec!["1 Contrasts 2"],
        ),
        (vec!["Ana: Never paint the fence.", "Tom: No fence then."], vec![]),
        (vec!["Ana: I learn the cello.", "Tom: Me too."], vec!["1 Parallel 2"]),
        (vec!["Ana: I cried.", "Ana: But look, a whale."], vec![]),
        (
            vec![
                "Tom: I bought a boat.",
                "Ana: Who sold you the boat?",
                "Tom: A retired pilot.",
            ],
            vec!["2 FollowsUp 3", "3 Elaborates 1"],
        ),
    ] {
        assert_eq!(describe_relations(&talk(&lines)), expected, "{lines:?}");
    }
}

#[test]
fn simultaneous_events_are_parallel() {
    for (before, after, expected) in [
        (
            "Ana: I painted the fence.",
            "Tom: Meanwhile I mended the gate in the fence.",
            true,
        ),
        (
            "Tom: I stirred the dough.",
            "Tom: At the same time the oven got hot.",
            true,
        ),
        // Nothing says that it was in the same place.
        ("Ana: I painted the fence.", "Tom: Meanwhile the tide rose.", false),
    ] {
        let expected = if expected { vec!["1 Parallel 2"] } else { Vec::new() };
        assert_eq!(describe_relations(&talk(&[before, after])), expected, "{after}");
    }
}

#[test]
fn an_action_enables_another_that_uses_its_result() {
    let run = [
        call(1, "take", r#"{"object": "brass key"}"#, "You take the brass key."),
        call(2, "go", "east", "You are in the hall."),
        call(3, "unlock", "gate with brass key", "You unlock the gate."),
    ];
    assert_eq!(describe_relations(&run), ["1 Enables 3"]);
}

#[test]
fn a_turn_keeps_only_its_best_relations() {
    let lines: Vec<String> = (1..=20).map(|it| format!("Tom: I ran on {it} March 2023.")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = describe_relations(&talk(&lines));
    assert!(found.contains(&"19 Before 20".to_owned()), "{found:?}");
    assert_eq!(found.iter().filter(|it| it.ends_with(" 20")).count(), 2, "{found:?}");
}

#[test]
fn a_session_is_divided_into_events_of_one_topic() {
    let lines = [
        "Ana: Did you bake bread this weekend?",
        "Tom: Yes, a sourdough loaf with rye flour.",
        "Ana: I love fresh bread and butter.",
        "Tom: The dough rose overnight in the kitchen.",
        "Ana: By the way, how is the football team doing?",
        "Tom: We won the match and our striker scored two goals.",
        "Ana: Great game! Is the league cup next?",
        "Tom: The cup final is in the big stadium.",
        "Ana: Anyway, my laptop broke, the screen is black.",
        "Tom: Did you restart the computer?",
        "Ana: I did, and I reinstalled the driver software.",
    ];
    let (units, relations) = organised(talk(&lines));
    let events: Vec<usize> = units
        .iter()
        .filter(|it| it.grain == Grain::Event)
        .map(|it| it.records.len())
        .collect();
    assert_eq!(events, [4, 4, 3]);
    let members = relations.iter().filter(|it| it.kind == RelationKind::PartOf).count();
    assert_eq!(members, lines.len());
    let first = &units[0];
    assert!(
        first
            .summary
            .starts_with("[8 May 2023] Ana, Tom\nAna to Tom: Did you bake bread this weekend"),
        "{}",
        first.summary
    );
    assert_eq!(first.participants, ["Ana", "Tom"]);
}

#[test]
fn a_long_session_of_identical_lines_is_divided_into_events() {
    let lines = vec!["Ana: ok"; 300];
    let (units, _) = organised(talk(&lines));
    let longest = units.iter().map(|it| it.records.len()).max().unwrap();
    assert!((3..=20).contains(&longest), "{longest}");
    assert!((40..=80).contains(&units.len()), "{} events", units.len());
}
