//! Erasing a space, over all ports that store data of it.

use chrono::TimeDelta;
use domain::derived::DerivedKind;
use domain::erasure::{Erased, ErasureKind, Receipt};
use domain::id::ErasureId;
use domain::port::{Claim, Idempotent, Position, Search, SearchResult, UnfinishedErasure};
use domain::recall::NOTES_MAX;
use domain::relation::RelationKind;
use uuid::Uuid;

use super::Ports;
use super::bus::{expect_no_delivery, next, payload_text};
use super::sample::{curation, derived, frame, noon, note, point, record, relation, space, unit};

async fn fill_space(ports: &Ports, name: &str) {
    let it = space(name);
    let remembered = Idempotent {
        request: [1; 32],
        response: b"{}".to_vec(),
    };
    ports.records.create_space(&it, noon()).await.unwrap();
    ports
        .records
        .claim(&it, &[(record(&it, "1").id, [1; 32])])
        .await
        .unwrap();
    ports
        .records
        .store_response(&it, "k", &remembered, noon())
        .await
        .unwrap();
    ports.records.put(&it, &[record(&it, "1")]).await.unwrap();
    ports.records.mark_written(&it, Position(3)).await.unwrap();
    ports.graph.put_units(&it, &[unit(1), unit(2)], &[]).await.unwrap();
    ports
        .graph
        .put_relations(&it, &[relation(1, RelationKind::Before, "", 2)])
        .await
        .unwrap();
    ports.graph.put_derived(&it, &derived(1, "tea"), &[]).await.unwrap();
    ports
        .records
        .put_curations(&it, Position(1), &[curation(1, "why")])
        .await
        .unwrap();
    ports
        .records
        .note(&it, "scope", &[note(1, 1)], NOTES_MAX)
        .await
        .unwrap();
    let dense = vec![0.5; ports.embedder.dimension()];
    ports.index.put(&it, &[point(1, 0, dense)], &[]).await.unwrap();
}

/// Returns everything that can be read from a space, as text.
async fn dump_space(ports: &Ports, name: &str) -> String {
    let it = space(name);
    let ids = [unit(1).id, unit(2).id];
    let search = Search {
        words: Some(vec![(1, 1.0)]),
        limit: 9,
        ..Search::default()
    };
    let (records, graph) = (&ports.records, &ports.graph);
    let found = (
        records.list(&it, 0, 9).await.unwrap().0,
        records.get(&it, &[record(&it, "1").id]).await.unwrap(),
        records.stored_response(&it, "k").await.unwrap(),
        records.is_written(&it, Position(3)).await.unwrap(),
        records.curations(&it, None, 9).await.unwrap(),
        records.notes(&it, "scope").await.unwrap(),
    );
    let derived = (
        graph.units(&it, &ids).await.unwrap(),
        graph.changes(&it, 0, 9).await.unwrap(),
        graph.relations(&it, &ids, 9).await.unwrap(),
        graph.derived_changes(&it, 0, 9).await.unwrap(),
        graph.list_derived(&it, DerivedKind::Page, None, 9).await.unwrap(),
        ports.index.search(&it, &search).await.unwrap(),
    );
    format!("{found:?} {derived:?}")
}

/// An erased space is removed from every store, and is empty when it is created again. Another space keeps everything.
pub async fn an_erased_space_is_gone(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    fill_space(&ports, "a").await;
    fill_space(&ports, "b").await;
    let neighbour = dump_space(&ports, "b").await;
    assert!(ports.records.delete_space(&space("a")).await.unwrap());
    ports.index.erase(&space("a")).await.unwrap();
    assert!(!ports.records.delete_space(&space("a")).await.unwrap());
    assert_eq!(ports.records.space(&space("a")).await.unwrap(), None);
    let nothing = dump_space(&ports, "never").await;
    assert_eq!(dump_space(&ports, "a").await, nothing);

    assert!(ports.records.create_space(&space("a"), noon()).await.unwrap());
    assert_eq!(dump_space(&ports, "a").await, nothing);
    let info = ports.records.space(&space("a")).await.unwrap().unwrap();
    assert_eq!((info.records, info.units, info.written), (0, 0, Position(0)));
    let claim = [(record(&space("a"), "1").id, [2; 32])];
    assert_eq!(ports.records.claim(&space("a"), &claim).await.unwrap(), [Claim::Fresh]);
    assert_eq!(dump_space(&ports, "b").await, neighbour);
    assert_ne!(nothing, neighbour);
    let search = Search {
        words: Some(vec![(1, 1.0)]),
        limit: 9,
        ..Search::default()
    };
    assert_ne!(
        ports.index.search(&space("b"), &search).await.unwrap(),
        SearchResult::default()
    );
}

/// A deletion is listed as unfinished, by its exact name, until it is finished. Finishing it again, or after a later
/// deletion of the same name, removes no other entry.
pub async fn a_deletion_is_unfinished_until_it_is_finished(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let (records, a) = (&ports.records, space("a"));
    let created = async |name: &str, at| records.create_space(&space(name), at).await.unwrap();
    assert!(created("a", noon()).await && created("a-b", noon()).await);
    assert_eq!(records.unfinished_erasures(None, 9).await.unwrap(), []);
    assert!(records.delete_space(&space("a-b")).await.unwrap());
    assert!(records.delete_space(&a).await.unwrap());
    let first = UnfinishedErasure {
        space: a.clone(),
        created_at: noon(),
    };
    let of_a = async || records.unfinished_erasures(Some(&a), 9).await.unwrap();
    assert_eq!(of_a().await, std::slice::from_ref(&first));
    assert_eq!(records.unfinished_erasures(None, 9).await.unwrap().len(), 2);
    assert_eq!(
        records.unfinished_erasures(None, 1).await.unwrap(),
        std::slice::from_ref(&first)
    );

    let later = noon() + TimeDelta::hours(1);
    assert!(created("a", later).await);
    assert!(records.delete_space(&a).await.unwrap());
    let second = UnfinishedErasure {
        space: a.clone(),
        created_at: later,
    };
    records.finish_erasure(&first).await.unwrap();
    assert_eq!(of_a().await, std::slice::from_ref(&second));
    for _ in 0..2 {
        records.finish_erasure(&second).await.unwrap();
        assert_eq!(of_a().await, []);
    }
    assert_eq!(records.unfinished_erasures(None, 9).await.unwrap().len(), 1);
}

/// A space is newer than a deleted space of its name whose erasure is unfinished, even if the clock of its creator is
/// behind. Otherwise its creation time is the given one.
pub async fn a_space_is_newer_than_the_deleted_space_of_its_name(open: impl AsyncFn() -> Ports) {
    let records = open().await.records;
    let (a, early) = (space("a"), noon() - TimeDelta::seconds(2));
    let create = async |name: &str, at| {
        assert!(records.create_space(&space(name), at).await.unwrap());
        records.space(&space(name)).await.unwrap().unwrap().created_at
    };
    assert_eq!(create("a", noon()).await, noon());
    assert_eq!(create("a-b", early).await, early);
    assert!(records.delete_space(&a).await.unwrap());
    let again = create("a", early).await;
    assert!(again >= noon() + TimeDelta::microseconds(1), "{again}");
    assert!(records.delete_space(&a).await.unwrap());
    let later = again + TimeDelta::hours(1);
    assert_eq!(create("a", later).await, later);

    assert!(records.delete_space(&a).await.unwrap());
    for erasure in records.unfinished_erasures(Some(&a), 9).await.unwrap() {
        records.finish_erasure(&erasure).await.unwrap();
    }
    assert_eq!(create("a", early).await, early, "no erasure is unfinished");
}

/// A stored response that names an erased record is forgotten with the record; a response that names another record is
/// not.
pub async fn responses_that_name_an_erased_record_are_forgotten(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let (records, receipts, a) = (&ports.records, &ports.receipts, space("a"));
    records.create_space(&a, noon()).await.unwrap();
    let [one, two] = ["1", "2"].map(|it| record(&a, it));
    records.put(&a, &[one.clone(), two.clone()]).await.unwrap();
    for (key, it) in [("one", &one), ("two", &two)] {
        let remembered = Idempotent {
            request: [1; 32],
            response: format!(r#"{{"items":[{{"id":"x","record":"{}"}}]}}"#, it.id).into_bytes(),
        };
        records.store_response(&a, key, &remembered, noon()).await.unwrap();
    }
    let erased = Erased::Records(vec![one.id]);
    let named = async || receipts.count_remaining_data(&a, &erased).await.unwrap()["remembered"];
    assert_eq!(named().await, 1);
    records.erase(&a, &[one.id]).await.unwrap();
    assert_eq!(named().await, 0);
    assert_eq!(records.stored_response(&a, "one").await.unwrap(), None);
    assert!(records.stored_response(&a, "two").await.unwrap().is_some());
}

/// A receipt is stored once, whether its space exists or not. It is completed by its position, and listed by id under
/// the name of its space.
pub async fn a_receipt_outlives_its_space(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let receipts = &ports.receipts;
    let first = sample_receipt("a", 2, 7);
    receipts.put_receipt(&first).await.unwrap();
    receipts
        .put_receipt(&Receipt {
            by: "other".to_owned(),
            ..first.clone()
        })
        .await
        .unwrap();
    let second = sample_receipt("a", 1, 8);
    receipts.put_receipt(&second).await.unwrap();
    receipts.put_receipt(&sample_receipt("a-b", 3, 7)).await.unwrap();
    ports.records.create_space(&space("a"), noon()).await.unwrap();
    assert!(ports.records.delete_space(&space("a")).await.unwrap());
    let get = async |id| receipts.get(&space("a"), id).await.unwrap();
    assert_eq!(get(first.id).await, Some(first.clone()));
    assert_eq!(get(sample_receipt("a", 3, 7).id).await, None, "of another space");

    for later in [0, 5] {
        let at = noon() + TimeDelta::minutes(later);
        receipts.complete(&space("a"), Position(7), at).await.unwrap();
        let completed = Receipt {
            completed_at: Some(noon()),
            ..first.clone()
        };
        assert_eq!(get(first.id).await, Some(completed), "the first moment stays");
    }
    assert_eq!(get(second.id).await, Some(second.clone()), "of another position");
    let neighbour = receipts
        .get(&space("a-b"), sample_receipt("a-b", 3, 7).id)
        .await
        .unwrap();
    assert_eq!(neighbour.unwrap().completed_at, None);
    drop(ports);

    let receipts = open().await.receipts;
    let list = async |after, limit| -> Vec<_> {
        let found = receipts.list(&space("a"), after, limit).await.unwrap();
        found.into_iter().map(|it| it.id).collect()
    };
    assert_eq!(list(None, 9).await, [second.id, first.id]);
    assert_eq!(list(None, 1).await, [second.id]);
    assert_eq!(list(Some(second.id), 9).await, [first.id]);

    let since = async |at, after| -> Vec<_> {
        let found = receipts.completed_since(&space("a"), at, after, 9).await.unwrap();
        found.into_iter().map(|it| it.id).collect()
    };
    let moment = TimeDelta::milliseconds(1);
    assert_eq!(since(noon(), None).await, [first.id], "the second one is not complete");
    assert_eq!(since(noon() - moment, None).await, [first.id]);
    assert!(since(noon() + moment, None).await.is_empty());
    assert!(since(noon(), Some(first.id)).await.is_empty());
    receipts
        .complete(&space("a"), Position(8), noon() + moment)
        .await
        .unwrap();
    assert_eq!(since(noon(), None).await, [second.id, first.id]);
    assert_eq!(since(noon() + moment, None).await, [second.id]);
}

/// One of several receipts of a position is completed by its id, once, and only under the name of its space.
pub async fn a_receipt_is_completed_by_its_id(open: impl AsyncFn() -> Ports) {
    let receipts = open().await.receipts;
    let [first, second] = [1, 2].map(|number| sample_receipt("a", number, 0));
    let neighbour = sample_receipt("a-b", 1, 0);
    for it in [&first, &second, &neighbour] {
        receipts.put_receipt(it).await.unwrap();
    }
    let completed_at = async |it: &Receipt| {
        let found = receipts.get(&it.space, it.id).await.unwrap();
        found.unwrap().completed_at
    };
    let later = noon() + TimeDelta::minutes(5);
    receipts.complete_one(&space("a"), first.id, noon()).await.unwrap();
    receipts.complete_one(&space("a"), first.id, later).await.unwrap();
    assert_eq!(completed_at(&first).await, Some(noon()), "the first moment stays");
    assert_eq!(completed_at(&second).await, None, "of the same position");
    assert_eq!(completed_at(&neighbour).await, None, "the same id under another name");

    let missing = sample_receipt("a", 3, 0);
    receipts.complete_one(&space("a"), missing.id, noon()).await.unwrap();
    assert_eq!(receipts.get(&space("a"), missing.id).await.unwrap(), None);
    receipts.complete_one(&space("a-b"), second.id, noon()).await.unwrap();
    assert_eq!(completed_at(&second).await, None, "its id under another name");
}

/// All objects of an existing space are counted. After its deletion none are counted, also if another space has its
/// name.
pub async fn what_is_left_of_a_space_is_counted(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    fill_space(&ports, "a").await;
    fill_space(&ports, "b").await;
    let erased = Erased::Space { created_at: noon() };
    let counts = async |name: &str| {
        ports
            .receipts
            .count_remaining_data(&space(name), &erased)
            .await
            .unwrap()
    };
    let before = counts("a").await;
    for kind in [
        "claims",
        "records",
        "remembered",
        "units",
        "derived",
        "curations",
        "notes",
    ] {
        assert!(before[kind] > 0, "{kind}: {before:?}");
    }
    assert!(ports.records.delete_space(&space("a")).await.unwrap());
    let after = counts("a").await;
    assert!(after.values().all(|it| *it == 0), "{after:?}");
    let later = noon() + TimeDelta::hours(1);
    ports.records.create_space(&space("a"), later).await.unwrap();
    ports
        .records
        .put(&space("a"), &[record(&space("a"), "2")])
        .await
        .unwrap();
    let after = counts("a").await;
    assert!(
        after.values().all(|it| *it == 0),
        "of another space of the name: {after:?}"
    );
    assert_eq!(counts("b").await, before);
}

fn sample_receipt(name: &str, number: u128, position: u64) -> Receipt {
    Receipt {
        id: ErasureId::from_uuid(Uuid::from_u128(number)),
        space: space(name),
        created_at: noon(),
        kind: ErasureKind::Records,
        by: "key".to_owned(),
        requested_at: noon(),
        completed_at: None,
        position: Position(position),
        records: vec![record(&space(name), "1").id],
        sessions: Vec::new(),
        erased: [("records".to_owned(), 1)].into(),
    }
}

/// The bus forgets all messages of a space, whether waiting, in delivery or dead, and their keys. Messages of other
/// spaces stay.
pub async fn the_bus_forgets_a_space(open: impl AsyncFn() -> Ports) {
    let ports = open().await;
    let bus = &ports.bus;
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    bus.publish(frame("s", "a", "", "dead")).await.unwrap();
    next(&mut deliveries).await.settler.dead_letter("broken").await.unwrap();
    bus.publish(frame("s", "a", "", "out")).await.unwrap();
    let out = next(&mut deliveries).await;
    bus.publish(frame("s", "a", "k", "waiting")).await.unwrap();
    bus.publish(frame("s", "b", "k2", "neighbour")).await.unwrap();

    bus.erase("a").await.unwrap();
    assert_eq!(bus.backlog("s", "g").await.unwrap(), 1);
    assert!(ports.dead_letters.list(0, 9).await.unwrap().is_empty());
    out.settler.retry_after(std::time::Duration::ZERO).await.unwrap();
    let delivery = next(&mut deliveries).await;
    assert_eq!(payload_text(&delivery), "neighbour");
    delivery.settler.done().await.unwrap();
    expect_no_delivery(&mut deliveries).await;

    bus.publish(frame("s", "a", "k", "anew")).await.unwrap();
    assert_eq!(
        payload_text(&next(&mut deliveries).await),
        "anew",
        "its key went with it"
    );
}
