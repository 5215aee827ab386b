//! The clusterer from outside: units in, entities out.

#![expect(clippy::unwrap_used, reason = "tests")]

mod entities;
mod events;
mod held;
mod roles;

use std::path::PathBuf;
use std::time::Duration;

use clusterer::Tally;
use domain::derived::{Derived, DerivedKind};
use domain::entity::Entity;
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{Message, UnitsOrganisedV1};
use domain::port::Position;
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use host::Context;
use proptest::prelude::*;

fn space() -> SpaceId {
    "home".parse().unwrap()
}

fn unit(number: usize, actor: &str, text: &str) -> Unit {
    let record = RecordId::derive(&space(), &number.to_string());
    Unit {
        id: UnitId::turn(record),
        grain: Grain::Turn,
        session: SessionId::derive(&space(), "talk"),
        records: vec![record],
        external_ids: vec![number.to_string()],
        observed_at: chrono::DateTime::UNIX_EPOCH.fixed_offset(),
        ordinal: number as u64,
        modality: Modality::Text,
        actor: actor.to_owned(),
        addressee: String::new(),
        text: text.to_owned(),
        caption: String::new(),
        summary: String::new(),
        times: Vec::new(),
        participants: text::names(text)
            .into_iter()
            .chain(text::vocatives(text))
            .map(str::to_owned)
            .collect(),
        location: if text.contains("Oslo") {
            "Oslo".to_owned()
        } else {
            String::new()
        },
        action: String::new(),
        step: None,
        changes: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        derived_by: "test".to_owned(),
        status: Status::Active,
        confidence: 1.0,
    }
}

fn talk() -> Vec<Unit> {
    let lines = [
        ("Melanie Brown", "Hey Caro! How are you?"),
        ("Caroline", "Hi Mel! My friend Ben asked about you."),
        ("Melanie Brown", "Thanks, Caro! We went to Oslo with Ben."),
        ("Caroline", "Wow, Mel! I love Oslo."),
        ("Melanie Brown", "Hey, Caro!"),
        ("Caroline", "Hey, Mel! We read the Iliad together."),
    ];
    lines
        .iter()
        .enumerate()
        .map(|(number, (actor, text))| unit(number, actor, text))
        .collect()
}

fn shown(mut entities: Vec<Entity>) -> Vec<String> {
    entities.sort_by(|a, b| a.name.cmp(&b.name));
    entities
        .iter()
        .map(|it| format!("{} {:?} {:?} {}", it.name, it.kind, it.aliases, it.mentions))
        .collect()
}

fn tally(units: &[Unit]) -> Tally {
    let mut tally = Tally::default();
    units.iter().for_each(|it| tally.apply(it));
    tally
}

#[test]
fn speakers_people_and_places_with_their_names() {
    assert_eq!(
        shown(tally(&talk()).entities(&space())),
        [
            r#"Ben Person [] 2"#,
            r#"Caroline Speaker ["Caro"] 6"#,
            r#"Iliad Other [] 1"#,
            r#"Melanie Brown Speaker ["Mel", "Melanie"] 6"#,
            r#"Oslo Place [] 2"#,
        ]
    );
}

#[test]
fn a_name_called_seldom_or_by_both_is_no_alias() {
    let mut units = talk();
    units.push(unit(6, "Caroline", "Hey Caro! That is me."));
    units.push(unit(7, "Caroline", "Hey Caro! Me again."));
    let entities = shown(tally(&units[1..]).entities(&space()));
    assert!(entities.contains(&r#"Caro Person [] 4"#.to_owned()), "{entities:?}");
}

proptest! {
    #[test]
    fn the_order_of_units_does_not_matter(
        units in Just(talk()).prop_shuffle(),
        again in any::<prop::sample::Index>(),
        gone in any::<prop::sample::Index>(),
    ) {
        let mut shuffled = tally(&units);
        shuffled.apply(again.get(&units));
        prop_assert_eq!(&shuffled, &tally(&talk()));
        let gone = gone.get(&units);
        shuffled.apply(&Unit { status: Status::Superseded, ..gone.clone() });
        let rest: Vec<Unit> = units.iter().filter(|it| it.id != gone.id).cloned().collect();
        prop_assert_eq!(shuffled, tally(&rest));
    }
}

#[tokio::test]
async fn entities_follow_the_units_of_a_space() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("follow");
    std::fs::remove_dir_all(&dir).ok();
    let context = Context::embedded(&dir).await.unwrap();
    let backends = context.backends.clone();
    backends
        .records
        .create_space(&space(), chrono::DateTime::UNIX_EPOCH)
        .await
        .unwrap();
    let service = tokio::spawn(clusterer::run(context.clone()));
    let entities = async |units: &[Unit], retired: &[UnitId], position: u64| {
        backends.graph.put_units(&space(), units, retired).await.unwrap();
        let position = Position(position);
        context
            .publish(&UnitsOrganisedV1 {
                space: space(),
                position,
            })
            .await
            .unwrap();
        let wait = async {
            while backends
                .bus
                .backlog(UnitsOrganisedV1::SUBJECT, "clusterer")
                .await
                .unwrap()
                > 0
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), wait).await.unwrap();
        let space = space();
        let listed = backends.graph.list_derived(&space, DerivedKind::Entity, None, 100);
        let entity = |it| if let Derived::Entity(it) = it { Some(it) } else { None };
        shown(listed.await.unwrap().into_iter().filter_map(entity).collect())
    };
    let first = entities(&talk()[..2], &[], 1).await;
    assert_eq!(first.len(), 5, "{first:?}");
    let whole = entities(&talk()[2..], &[], 2).await;
    assert_eq!(whole, shown(tally(&talk()).entities(&space())));
    let without = entities(&[], &[talk()[5].id], 3).await;
    assert!(!without.iter().any(|it| it.starts_with("Iliad")), "{without:?}");
    context.shutdown.cancel();
    service.await.unwrap().unwrap();
}
