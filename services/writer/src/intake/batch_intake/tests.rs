use chrono::{DateTime, TimeDelta};
use domain::curation::{Act, Curation};
use domain::id::CurationId;
use domain::port::{Claim, Position};
use domain::unit::Status;

use super::*;

fn sample_space() -> SpaceId {
    "s".parse().unwrap()
}

fn sample_record(id: &str, text: &str) -> Record {
    Record {
        actor: "Ana".to_owned(),
        text: text.to_owned(),
        ..fixtures::sample_record(&sample_space(), id)
    }
}

/// Runs a test with separate stores that contain the space; deletes their folder at the end.
async fn with_stores(name: &str, test: impl AsyncFnOnce(&Backends)) {
    let dir = std::env::temp_dir().join(format!("mnemic-accept-{name}-{}", std::process::id()));
    let context = Context::embedded_with_defaults(&dir).await.unwrap();
    let is_created = context
        .backends
        .records
        .create_space(&sample_space(), DateTime::UNIX_EPOCH)
        .await;
    assert!(is_created.unwrap());
    test(&context.backends).await;
    drop(context);
    std::fs::remove_dir_all(&dir).ok();
}

/// Returns the texts of the active turn units of records.
async fn active_unit_texts(backends: &Backends, records: &[&Record]) -> Vec<String> {
    let ids: Vec<UnitId> = records.iter().map(|it| UnitId::of_turn(it.id)).collect();
    let units = backends.graph.units(&sample_space(), &ids).await.unwrap();
    let used = units.into_iter().filter(|it| it.status == Status::Active);
    used.map(|it| it.text).collect()
}

/// Erases a record between the first look and the put of its batch; the first look sees the act if `is_act_seen`.
async fn erased_between_look_and_put(name: &str, is_act_seen: bool) {
    with_stores(name, async |backends| {
        let (erased, remaining) = (
            sample_record("1", "The quaxbank has it."),
            sample_record("2", "I water the fern."),
        );
        let claims = [(erased.id, [1; 32]), (remaining.id, [2; 32])];
        backends.records.claim(&sample_space(), &claims).await.unwrap();
        let before = read_space_info(backends, &sample_space()).await.unwrap();
        let act = Curation {
            id: CurationId::from_external_id(&sample_space(), "1"),
            at: DateTime::UNIX_EPOCH,
            by: String::new(),
            act: Act::EraseRecord { record: erased.id },
            reason: String::new(),
        };
        backends
            .records
            .put_curations(&sample_space(), Position(1), &[act])
            .await
            .unwrap();
        let behind = read_space_info(backends, &sample_space()).await.unwrap();
        let before = if is_act_seen { behind } else { before };
        backends.records.erase(&sample_space(), &[erased.id]).await.unwrap();

        let all = vec![erased.clone(), remaining.clone()];
        assert!(store_records(backends, &before, all).await.unwrap());
        let stored = backends
            .records
            .get(&sample_space(), &[erased.id, remaining.id])
            .await
            .unwrap();
        assert_eq!(stored, std::slice::from_ref(&remaining));
        assert_eq!(
            active_unit_texts(backends, &[&erased, &remaining]).await,
            ["I water the fern."]
        );
    })
    .await;
}

#[tokio::test]
async fn an_erasure_between_the_first_look_and_the_put_takes_effect() {
    erased_between_look_and_put("erasure", false).await;
}

#[tokio::test]
async fn an_erasure_whose_curation_precedes_the_first_look_takes_effect() {
    erased_between_look_and_put("seen", true).await;
}

#[tokio::test]
async fn records_of_a_deleted_space_are_not_in_a_new_space_of_the_same_name() {
    with_stores("next", async |backends| {
        let (old, same) = (
            sample_record("1", "The quaxbank has it."),
            sample_record("2", "The quaxbank is shut."),
        );
        let before = read_space_info(backends, &sample_space()).await.unwrap();
        assert!(backends.records.delete_space(&sample_space()).await.unwrap());
        let later = DateTime::UNIX_EPOCH + TimeDelta::seconds(1);
        backends.records.create_space(&sample_space(), later).await.unwrap();
        let own = sample_record("2", "I water the fern.");
        backends
            .records
            .claim(&sample_space(), &[(own.id, [7; 32])])
            .await
            .unwrap();
        let now = read_space_info(backends, &sample_space()).await.unwrap();
        assert!(store_records(backends, &now, vec![own.clone()]).await.unwrap());

        let all = vec![old.clone(), same.clone()];
        assert!(!store_records(backends, &before, all).await.unwrap());
        let stored = backends.records.get(&sample_space(), &[old.id, same.id]).await.unwrap();
        assert_eq!(stored, std::slice::from_ref(&own));
        assert_eq!(active_unit_texts(backends, &[&old, &same]).await, ["I water the fern."]);
        let claim = [(old.id, [9; 32]), (own.id, [7; 32])];
        let claims = backends.records.claim(&sample_space(), &claim).await.unwrap();
        assert_eq!(claims, [Claim::Fresh, Claim::Same]);
    })
    .await;
}
