//! Tests of entities.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use clusterer::{Acts, ChangedObjects, Entities, NamedEntity};
use domain::entity::{Entity, EntityKind};
use domain::id::SessionId;
use domain::unit::{Status, Unit};
use proptest::prelude::*;

use crate::held::{Held, parting};
use crate::{space, unit};

/// Returns units for lines such as `Ana: Hello`. They are one session, unless a line begins with `#` and the name of
/// another one.
pub(crate) fn talk(lines: &[&str]) -> Vec<Unit> {
    let mut session = "talk";
    let mut actors: Vec<&str> = Vec::new();
    let mut out: Vec<Unit> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if let Some(name) = line.strip_prefix('#') {
            session = name;
            continue;
        }
        let (actor, text) = line.split_once(": ").unwrap();
        actors.push(actor);
        let mut unit = unit(number, actor, text);
        unit.participants.retain(|it| it != actor);
        unit.session = SessionId::from_name(&space(), session);
        unit.observed_at += TimeDelta::minutes(i64::try_from(number).unwrap());
        out.push(unit);
    }
    out
}

pub(crate) fn apply_units(units: &[Unit], acts: &Acts) -> (Entities, Held) {
    let (mut entities, mut held) = (Entities::default(), Held::default());
    units.iter().for_each(|it| entities.apply_unit(it));
    held.take(entities.take_changes(&space(), acts));
    (entities, held)
}

fn known(lines: &[&str]) -> (Entities, Held) {
    apply_units(&talk(lines), &Acts::default())
}

pub(crate) fn resolved(entities: &Entities, actor: &str, phrase: &str) -> Option<String> {
    entities.resolve_phrase(actor, phrase).map(|it| it.name)
}

#[test]
fn speakers_people_and_places_become_entities_with_their_names() {
    let lines = [
        "Melanie Brown: Hey Caro! How are you?",
        "Caroline: Hi Mel! My friend Ben asked about you.",
        "Melanie Brown: Thanks, Caro! We went to Oslo with Ben.",
        "Caroline: Wow, Mel! I love Oslo.",
        "Melanie Brown: Hey, Caro!",
        "Caroline: Hey, Mel! We read the Iliad together.",
    ];
    let shown = |held: &Held| {
        let line = |it: &&Entity| format!("{} {:?} {:?} {}", it.name, it.kind, it.aliases, it.mentions);
        let mut lines: Vec<String> = held.entities().iter().map(line).collect();
        lines.sort();
        lines
    };
    let (_, held) = known(&lines);
    let expected = [
        r#"Ben Person [] 2"#,
        r#"Caroline Speaker ["Caro"] 6"#,
        r#"Iliad Other [] 1"#,
        r#"Melanie Brown Speaker ["Mel", "Melanie"] 6"#,
        r#"Oslo Place [] 2"#,
    ];
    assert_eq!(shown(&held), expected);
    // A nickname that both use, or that is rarely used, is not an alias.
    let both: Vec<&str> = lines
        .into_iter()
        .chain(["Caroline: Hey, Caro! Me again."])
        .skip(1)
        .collect();
    let (_, held) = known(&both);
    assert!(held.entity("Caroline").aliases.is_empty(), "{:?}", shown(&held));
}

#[test]
fn shouted_words_sentence_openers_and_code_are_not_entities() {
    let (_, held) = known(&[
        "Tom: He was SACKED by them.",
        "Tom: Retest is booked, says Ana.",
        "Tom: We met Ana at the Copper Pot.",
        "Tom: I ran it:\n```\nthe Scheduler and the Clock\n```",
    ]);
    let entities = held.entities();
    let mut names: Vec<(&str, EntityKind)> = entities.iter().map(|it| (it.name.as_str(), it.kind)).collect();
    names.sort_by_key(|it| it.0);
    let expected = [
        ("Ana", EntityKind::Other),
        ("Copper Pot", EntityKind::Other),
        ("Tom", EntityKind::Speaker),
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_first_name_of_two_people_belongs_to_neither() {
    let (entities, held) = known(&[
        "Tom: My friend Ana Silva said so.",
        "Tom: I told my boss Ana everything.",
    ]);
    assert_eq!(held.entity("Ana Silva").aliases, ["Ana"]);
    assert_eq!(resolved(&entities, "Tom", "Ana").as_deref(), Some("Ana Silva"));
    let (entities, held) = known(&[
        "Tom: My friend Ana Silva said so.",
        "Tom: I told my boss Ana everything.",
        "Tom: My teacher Ana Costa told me.",
    ]);
    assert_eq!(resolved(&entities, "Tom", "Ana").as_deref(), Some("Ana"));
    assert!(held.entity("Ana Silva").aliases.is_empty() && held.merges().is_empty());
}

#[test]
fn two_speakers_with_one_first_name_share_no_alias() {
    let (entities, held) = known(&["Ana Silva: Hello.", "Ana Costa: Hello."]);
    assert_eq!(resolved(&entities, "Tom", "Ana"), None);
    assert_eq!(held.entities().len(), 2);
}

#[test]
fn a_name_that_is_a_common_word_needs_its_capital() {
    let (entities, held) = known(&[
        "Hope: Good morning.",
        "Tom: I hope so. We asked Hope about it.",
        "Tom: I hope they come.",
    ]);
    assert_eq!(held.entity("Hope").mentions, 2);
    assert_eq!(resolved(&entities, "Tom", "Hope").as_deref(), Some("Hope"));
    assert_eq!(resolved(&entities, "Tom", "hope"), None);
    assert_eq!(resolved(&entities, "Hope", "me").as_deref(), Some("Hope"));
    assert_eq!(resolved(&entities, "Hope", "tom").as_deref(), Some("Tom"));
}

#[test]
fn a_nickname_of_two_people_belongs_to_neither() {
    let calls = ["Ana: Hi, Bear!", "Tom: Hello.", "Ana: Thanks, Bear!", "Ana: Bye, Bear!"];
    let (entities, held) = known(&calls);
    assert_eq!(resolved(&entities, "Ana", "Bear").as_deref(), Some("Tom"));
    assert!(
        held.merge("Tom", "Bear")
            .is_some_and(|it| it.reason.contains("a nickname"))
    );
    let both: Vec<&str> = calls
        .into_iter()
        .chain([
            "#other",
            "Eva: Hi, Bear!",
            "Max: Hello.",
            "Eva: Thanks, Bear!",
            "Eva: Bye, Bear!",
        ])
        .collect();
    let (entities, held) = known(&both);
    assert_eq!(resolved(&entities, "Ana", "Bear").as_deref(), Some("Bear"));
    assert!(held.merges().is_empty());
}

#[test]
fn spellings_of_one_name_are_merged_with_a_reason() {
    let lines = [
        "Tom: We read the Iliad.",
        "Tom: So it was The ILIAD again.",
        "Tom: We went to St. Moritz.",
        "Tom: And again to Saint Moritz.",
        "Tom: We saw the Sea Scouts, and one Sea Scout spoke.",
        "Tom: My friend Margarethe asked. I like Margarethe.",
        "Tom: So Margarethe came.",
        "Tom: We thanked Margarethe.",
        "Tom: And my friend Margraethe left.",
    ];
    let (_, held) = known(&lines);
    for (one, other, reason) in [
        ("Iliad", "ILIAD", "capitals"),
        ("St. Moritz", "Saint Moritz", "an abbreviated word"),
        ("Sea Scout", "Sea Scouts", "plural"),
        ("Margarethe", "Margraethe", "one letter"),
    ] {
        let merge = held
            .merge(one, other)
            .unwrap_or_else(|| panic!("{one}: {:?}", held.merges()));
        assert!(merge.reason.contains(reason), "{merge:?}");
        assert!(!merge.undone);
    }
    assert_eq!(held.entity("Iliad").aliases, ["ILIAD"]);
}

#[test]
fn names_of_different_people_stay_apart() {
    let (_, held) = known(&[
        "Tom: My friend William asked. My friend Williams asked.",
        "Tom: My friend Christine asked. So Christine left. We like Christine.",
        "Tom: My friend Christina asked.",
        "Tom: My aunt Anna asked. My aunt Hanna asked.",
        "Tom: We met on Monday and on Tuesday in Room 12 and Room 14.",
    ]);
    assert_eq!(held.merges(), []);
    for name in ["William", "Christine", "Anna"] {
        assert_eq!(held.entity(name).synonyms, []);
    }
}

#[test]
fn similar_names_are_synonyms_unless_they_are_misleading() {
    let like = |one: &str, other: &str| {
        let mut units = talk(&["Tom: I know it.", "Tom: And I know it."]);
        units[0].participants.push(one.to_owned());
        units[1].participants.push(other.to_owned());
        let (_, held) = apply_units(&units, &Acts::default());
        !held.entity(one).synonyms.is_empty()
    };
    for (one, other) in [
        ("Willow Creek", "Willow Creek Park"),
        ("Harbour Theatre", "Harbor Theatre"),
    ] {
        assert!(like(one, other), "{one}, {other}");
    }
    for (one, other) in [
        ("North Pier", "South Pier"),
        ("Windows 10", "Windows 11"),
        ("London", "London Bridge"),
        ("King Street", "Queen Street"),
        ("New York", "York"),
    ] {
        assert!(!like(one, other), "{one}, {other}");
    }
}

#[test]
fn a_curation_undoes_a_merge_and_another_restores_it() {
    let units = talk(&[
        "Tom: My friend Ana Silva said so.",
        "Tom: I told my boss Ana everything.",
        "Tom: We read the Iliad.",
        "Tom: And we read the ILIAD.",
    ]);
    let (mut entities, mut held) = apply_units(&units, &Acts::default());
    let before = held.clone();
    for (one, other) in [("Ana Silva", "Ana"), ("Iliad", "ILIAD")] {
        let acts = parting(held.merge(one, other).unwrap().id);
        held.take(entities.take_changes(&space(), &acts));
        assert!(held.merge(one, other).unwrap().undone);
        assert_eq!(resolved(&entities, "Tom", other).as_deref(), Some(other));
        assert_eq!(held.entity(other).mentions, 1);
        assert_eq!(held, apply_units(&units, &acts).1);
        held.take(entities.take_changes(&space(), &Acts::default()));
        assert_eq!(held, before);
    }
}

/// Returns lines in which many things depend on each other: nicknames, roles, first names, plurals, typos, similar
/// names.
fn tangle() -> Vec<Unit> {
    talk(&[
        "Melanie Brown: Hi, Caro! How are you?",
        "Caroline: Hi, Mel! My sister Ana asked about you.",
        "Melanie Brown: Thanks, Caro! We went to Oslo with Ana.",
        "Caroline: Wow, Mel! My brother Ben Stone loves Oslo.",
        "Melanie Brown: Bye, Caro! I read The Iliad.",
        "Caroline: Bye, Mel! Your boss Ben called. I know ILIAD.",
        "#two",
        "Caroline: My friend Ana Silva told me. We met at Blue Lantern.",
        "Ben Stone: Hi, Mel! We met at Blue Lantern Cafe, my sister Julia and I.",
        "Caroline: My friend Ana Costa told me. It was St. Moritz. We like Margarethe.",
        "Ben Stone: So it was Saint Moritz. We like Margarethe. So Margarethe said.",
        "Caroline: Sea Scouts and a Sea Scout. I met Margarethe and Margraethe.",
        "#three",
        "Ana: Hi, Bear! My mum is called Ines.",
        "Tom: Hello. My boss Ana Silva asked Ana.",
        "Ana: Thanks, Bear!",
        "Ana: Bye, Bear! My friend Bear Grim said so.",
        "Tom: My sister Kim called. Bye, Bear!",
        "Melanie Brown: My boss Kim called. My friend Kim Berg too.",
        "Ben Stone: My wife Lea saw Kim.",
        "Caroline: My husband Lea saw Kim. Ben Stone's wife Lea too.",
        "Julia: My boss Lea said so. Tom's sister Kim too.",
        "Lea: Hello.",
    ])
}

/// Returns the entity that each actor means by each phrase.
fn meanings(entities: &Entities) -> BTreeMap<(String, String), Option<NamedEntity>> {
    let actors = ["Melanie Brown", "Caroline", "Ben Stone", "Ana", "Tom", "Julia"];
    let phrases = "me, my sister, my brother, my boss, my mum, Ana's mum, Caroline's sister, Ben Stone's sister, Mel, Caro, Ana, \
        Ana Silva, Bear, bear, Ben, Margraethe, St. Moritz, Sea Scouts, ILIAD, Blue Lantern, Kim, \
        Kim Berg, Lea, my wife, my husband, Tom's sister";
    let asked = actors
        .iter()
        .flat_map(|actor| phrases.split(", ").map(|it| (actor.to_string(), it.to_owned())));
    asked
        .map(|it| (it.clone(), entities.resolve_phrase(&it.0, &it.1)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_units_does_not_matter(
        units in Just(tangle()).prop_shuffle(),
        again in any::<prop::sample::Index>(),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        rounds in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        parted in any::<prop::sample::Index>(),
    ) {
        let (_, whole) = apply_units(&tangle(), &Acts::default());
        let acts = parting(parted.get(&whole.merges()).id);
        let (mut entities, mut held) = (Entities::default(), Held::default());
        let rounds: Vec<usize> = rounds.iter().map(|it| it.index(units.len())).collect();
        let mut resolved_names = meanings(&entities);
        for (at, unit) in units.iter().enumerate() {
            entities.apply_unit(unit);
            if rounds.contains(&at) {
                let acts = if at % 2 == 0 { acts.clone() } else { Acts::default() };
                held.take(entities.take_changes(&space(), &acts));
                let before = std::mem::replace(&mut resolved_names, meanings(&entities));
                for (asked, named) in &resolved_names {
                    let moved = entities.moved_keys();
                    let keys = entities.resolution_keys(&asked.0, &asked.1);
                    prop_assert!(before.get(asked) == Some(named) || !moved.is_disjoint(&keys), "{:?} {:?}", asked, named);
                }
            }
        }
        entities.apply_unit(again.get(&units));
        held.take(entities.take_changes(&space(), &Acts::default()));
        prop_assert_eq!(&held, &whole);
        held.take(entities.take_changes(&space(), &acts));
        prop_assert_eq!(&held, &apply_units(&tangle(), &acts).1);
        let removed: Vec<&Unit> = removed.iter().map(|it| it.get(&units)).collect();
        for unit in &removed {
            // The emptied unit, as the store returns it.
            let bare = Unit { status: Status::Superseded, text: String::new(), participants: Vec::new(), ..(*unit).clone() };
            entities.apply_unit(&bare);
        }
        held.take(entities.take_changes(&space(), &acts));
        let rest: Vec<Unit> = units.iter().filter(|it| removed.iter().all(|removed| removed.id != it.id)).cloned().collect();
        prop_assert_eq!(held, apply_units(&rest, &acts).1);
    }
}

#[test]
fn applying_an_unchanged_unit_reports_nothing() {
    let units = talk(&["Tom: My friend Ana Silva said so.", "Tom: Hello."]);
    let (mut entities, held) = apply_units(&units, &Acts::default());
    assert_eq!(held.entity("Tom").first_seen, Some(DateTime::<Utc>::UNIX_EPOCH));
    entities.apply_unit(&units[1]);
    assert_eq!(
        entities.take_changes(&space(), &Acts::default()),
        ChangedObjects::default()
    );
}
