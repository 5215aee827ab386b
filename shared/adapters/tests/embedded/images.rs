//! An image of a unit is kept until the unit changes, and deleted with it.

use chrono::DateTime;
use domain::id::{SessionId, UnitId};
use domain::port::Image;
use domain::record::Modality;
use domain::unit::{Grain, Status, Unit};
use uuid::Uuid;

use super::{Embedded, erased::holds, open, space};

const BODY: &[u8] = b"an image of the quaxbank";
const VERSION: i64 = 7;

fn unit(number: u128, text: &str) -> Unit {
    Unit {
        id: UnitId::from_uuid(Uuid::from_u128(number)),
        grain: Grain::Turn,
        session: SessionId::from_uuid(Uuid::from_u128(1)),
        records: Vec::new(),
        external_ids: Vec::new(),
        observed_at: DateTime::UNIX_EPOCH.fixed_offset(),
        ordinal: 0,
        modality: Modality::Text,
        actor: "Ann".to_owned(),
        addressee: String::new(),
        text: text.to_owned(),
        caption: String::new(),
        summary: text.to_owned(),
        times: Vec::new(),
        participants: Vec::new(),
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        version: None,
        stated: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        tags: Vec::new(),
        metadata: Default::default(),
        derived_by: "test".to_owned(),
        status: Status::Active,
        confidence: 1.0,
    }
}

/// Creates a space with units 1 and 2, each with its image.
async fn with_images(it: &Embedded) {
    let a = space("a");
    it.records.create_space(&a, DateTime::UNIX_EPOCH).await.unwrap();
    it.graph
        .put_units(&a, &[unit(1, "one"), unit(2, "two")], &[])
        .await
        .unwrap();
    let changes = it.graph.changes(&a, 0, 9).await.unwrap();
    let images = changes.iter().map(|it| Image {
        unit: it.unit.id,
        sequence: it.sequence,
        body: BODY.to_vec(),
    });
    let images: Vec<Image> = images.collect();
    it.graph.put_images(&a, VERSION, &images).await.unwrap();
}

/// Returns the numbers of the units that have an image, by their latest changes.
async fn imaged(it: &Embedded, version: i64) -> Vec<u128> {
    let changes = it.graph.imaged_changes(&space("a"), 0, 9, version).await.unwrap();
    let plain = it.graph.changes(&space("a"), 0, 9).await.unwrap();
    assert!(changes.iter().map(|it| &it.change).eq(plain.iter()));
    let with = changes.iter().filter(|it| it.image.as_deref() == Some(BODY));
    with.map(|it| it.change.unit.id.uuid().as_u128()).collect()
}

#[tokio::test]
async fn images_survive_a_restart_and_are_deleted_when_their_units_change() {
    let dir = tempfile::tempdir().unwrap();
    let a = space("a");
    let it = open(dir.path()).await;
    with_images(&it).await;
    drop(it);
    let it = open(dir.path()).await;
    assert_eq!(imaged(&it, VERSION).await, [1, 2]);
    assert_eq!(imaged(&it, VERSION + 1).await, [], "of another version");

    let old = it.graph.changes(&a, 0, 1).await.unwrap().remove(0);
    it.graph.put_units(&a, &[unit(1, "changed")], &[]).await.unwrap();
    assert_eq!(imaged(&it, VERSION).await, [2]);
    let late = Image {
        unit: old.unit.id,
        sequence: old.sequence,
        body: BODY.to_vec(),
    };
    it.graph.put_images(&a, VERSION, &[late]).await.unwrap();
    assert_eq!(
        imaged(&it, VERSION).await,
        [2],
        "what was computed before a change comes too late"
    );

    it.graph.put_units(&a, &[], &[unit(2, "two").id]).await.unwrap();
    assert_eq!(imaged(&it, VERSION).await, []);
}

#[tokio::test]
async fn images_of_erased_units_are_gone_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_images(&it).await;
    drop(it);
    assert!(holds(dir.path(), BODY), "it was there before");
    let it = open(dir.path()).await;
    it.graph
        .put_units(&space("a"), &[], &[unit(1, "one").id, unit(2, "two").id])
        .await
        .unwrap();
    drop(it);
    assert!(!holds(dir.path(), BODY));

    let dir = tempfile::tempdir().unwrap();
    let it = open(dir.path()).await;
    with_images(&it).await;
    it.records.delete_space(&space("a")).await.unwrap();
    drop(it);
    assert!(!holds(dir.path(), BODY));
}
