//! Curations by people, notes about hints, and records that are erased.

use domain::ErrorKind;
use domain::curation::Curation;
use domain::id::RecordId;
use domain::port::{Claim, Position};
use domain::recall::{NOTES_MAX, Note, NoteKind};
use domain::record::Record;

use super::sample::{curation, noon, note, record, space};
use super::{Ports, error_kind};

async fn open_empty(open: impl AsyncFn() -> Ports) -> Ports {
    let ports = open().await;
    for name in ["a", "b"] {
        ports.records.create_space(&space(name), noon()).await.unwrap();
    }
    ports
}

/// A curation is stored once, keeps its first content, and is listed by id.
pub async fn the_first_curation_of_an_id_stays(open: impl AsyncFn() -> Ports) {
    let records = open_empty(open).await.records;
    let (a, gone) = (space("a"), space("gone"));
    let [one, two, three] = [1, 2, 3].map(|it| curation(it, "'); -- `}) 文\0"));
    assert_eq!(
        error_kind(
            records
                .put_curations(&gone, Position(1), std::slice::from_ref(&one))
                .await
        ),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        error_kind(records.put_curations(&gone, Position(1), &[]).await),
        Some(ErrorKind::NotFound)
    );
    records
        .put_curations(&a, Position(1), &[three.clone(), one.clone()])
        .await
        .unwrap();
    records
        .put_curations(&a, Position(7), &[two.clone(), curation(1, "another")])
        .await
        .unwrap();
    let list =
        async |after: Option<&Curation>, limit| records.curations(&a, after.map(|it| it.id), limit).await.unwrap();
    assert_eq!(list(None, 2).await, [one.clone(), two.clone()]);
    assert_eq!(list(Some(&two), 9).await, [three]);
    assert!(list(None, 0).await.is_empty());
    assert!(records.curations(&space("b"), None, 9).await.unwrap().is_empty());
    assert!(records.curations(&gone, None, 9).await.unwrap().is_empty());

    let brought_by = async |it: &Curation| records.position_of_curation(&a, it.id).await.unwrap();
    assert_eq!(brought_by(&one).await, Some(Position(1)), "the first batch");
    assert_eq!(brought_by(&two).await, Some(Position(7)));
    assert_eq!(brought_by(&curation(4, "unknown")).await, None);
    assert_eq!(records.position_of_curation(&space("b"), one.id).await.unwrap(), None);
    assert_eq!(records.position_of_curation(&gone, one.id).await.unwrap(), None);
}

/// The latest note of a subject and kind counts, in whatever order the notes arrive. Scopes are separate.
pub async fn the_latest_note_counts(open: impl AsyncFn() -> Ports) {
    let records = open_empty(open).await.records;
    let (a, gone) = (space("a"), space("gone"));
    assert_eq!(
        error_kind(records.note(&gone, "s", &[note(1, 1)], NOTES_MAX).await),
        Some(ErrorKind::NotFound)
    );
    assert_eq!(
        error_kind(records.note(&a, "", &[note(1, 1)], NOTES_MAX).await),
        Some(ErrorKind::Invalid)
    );
    let long = "文".repeat(86);
    assert_eq!(
        error_kind(records.note(&a, &long, &[note(1, 1)], NOTES_MAX).await),
        Some(ErrorKind::Invalid)
    );
    let dismissed = Note {
        kind: NoteKind::Dismissed,
        ..note(1, 3)
    };
    records
        .note(&a, "s", &[note(2, 5), note(1, 2), note(1, 1)], NOTES_MAX)
        .await
        .unwrap();
    records
        .note(&a, "s", &[dismissed, note(2, 4)], NOTES_MAX)
        .await
        .unwrap();
    records.note(&a, "s", &[], NOTES_MAX).await.unwrap();
    assert_eq!(
        records.notes(&a, "s").await.unwrap(),
        [note(1, 2), dismissed, note(2, 5)]
    );
    for scope in ["s/", "s0", "/", "`'\"$\\文\0", &long[..255]] {
        assert!(records.notes(&a, scope).await.unwrap().is_empty(), "{scope:?}");
        records.note(&a, scope, &[note(7, 7)], NOTES_MAX).await.unwrap();
        assert_eq!(records.notes(&a, scope).await.unwrap(), [note(7, 7)], "{scope:?}");
    }
    assert_eq!(records.notes(&a, "s").await.unwrap().len(), 3);
    assert!(records.notes(&space("b"), "s").await.unwrap().is_empty());
    assert!(records.notes(&gone, "s").await.unwrap().is_empty());
}

/// A scope keeps its latest thousand notes.
pub async fn of_a_scope_the_latest_notes_are_kept(open: impl AsyncFn() -> Ports) {
    let records = open_empty(open).await.records;
    let a = space("a");
    // The latest notes have the smallest subjects, so that neither the order nor the position decides.
    let all: Vec<Note> = (0..1_200).map(|it| note(it, 1_200 - it as i64)).collect();
    for some in all.rchunks(500) {
        records.note(&a, "s", some, NOTES_MAX).await.unwrap();
    }
    records.note(&a, "other", &all[..1], NOTES_MAX).await.unwrap();
    assert_eq!(records.notes(&a, "s").await.unwrap(), all[..1_000]);
    records.note(&a, "s", &all[1_100..], NOTES_MAX).await.unwrap();
    assert_eq!(
        records.notes(&a, "s").await.unwrap(),
        all[..1_000],
        "what is older does not come back"
    );
    assert_eq!(records.notes(&a, "other").await.unwrap(), all[..1]);
}

/// All scopes with the same beginning up to their first `/` share a bound on their notes, and the latest notes are
/// kept. Other scopes and spaces keep their notes.
pub async fn the_scopes_of_a_space_share_a_bound(open: impl AsyncFn() -> Ports) {
    let records = open_empty(open).await.records;
    let (a, b) = (space("a"), space("b"));
    let most = 100;
    for scope in ["recall", "recalls/0", "erased/0", "recall0"] {
        records.note(&a, scope, &[note(1, -5)], most).await.unwrap();
    }
    records.note(&b, "recall/0", &[note(1, -5)], most).await.unwrap();
    let scopes: Vec<String> = (0..60).map(|it| format!("recall/{it}")).collect();
    for (at, scope) in scopes.iter().enumerate() {
        let notes = [note(1, at as i64), note(2, at as i64), note(3, at as i64)];
        records.note(&a, scope, &notes, most).await.unwrap();
        let mut kept = 0;
        for scope in &scopes[..=at] {
            kept += records.notes(&a, scope).await.unwrap().len();
        }
        assert!(
            kept <= most && (kept >= 90 || kept == 3 * (at + 1)),
            "{kept} after {at}"
        );
        assert_eq!(records.notes(&a, scope).await.unwrap(), notes, "the latest stay");
    }
    assert_eq!(records.notes(&a, &scopes[0]).await.unwrap(), [], "the oldest go");
    for scope in ["recall", "recalls/0", "erased/0", "recall0"] {
        assert_eq!(records.notes(&a, scope).await.unwrap().len(), 1, "{scope}");
    }
    assert_eq!(records.notes(&b, "recall/0").await.unwrap().len(), 1);
}

/// The notes of a scope are erased, and those of other scopes and spaces stay. The scope can get new notes.
pub async fn the_notes_of_a_scope_are_erased(open: impl AsyncFn() -> Ports) {
    let records = open_empty(&open).await.records;
    let (a, b) = (space("a"), space("b"));
    for scope in ["s", "s/", "s0"] {
        records
            .note(&a, scope, &[note(1, 1), note(2, 2)], NOTES_MAX)
            .await
            .unwrap();
    }
    records.note(&b, "s", &[note(1, 1)], NOTES_MAX).await.unwrap();
    for _ in 0..2 {
        records.forget_notes(&a, "s").await.unwrap();
        assert_eq!(records.notes(&a, "s").await.unwrap(), []);
    }
    for (space, scope, left) in [(&a, "s/", 2), (&a, "s0", 2), (&b, "s", 1)] {
        assert_eq!(records.notes(space, scope).await.unwrap().len(), left, "{scope:?}");
    }
    records.forget_notes(&a, "").await.unwrap();
    records.forget_notes(&space("gone"), "s").await.unwrap();
    records.note(&a, "s", &[note(3, 3)], NOTES_MAX).await.unwrap();
    assert_eq!(records.notes(&a, "s").await.unwrap(), [note(3, 3)]);
}

/// An erased record is removed together with its claim, and may be accepted again.
pub async fn an_erased_record_is_gone(open: impl AsyncFn() -> Ports) {
    let records = open_empty(open).await.records;
    let (a, b) = (space("a"), space("b"));
    let all = ["1", "2", "3"].map(|it| record(&a, it));
    let ids = all.each_ref().map(|it| it.id);
    records.put(&a, &all).await.unwrap();
    records.put(&b, &[record(&b, "1")]).await.unwrap();
    records.claim(&a, &ids.map(|it| (it, [1; 32]))).await.unwrap();

    let unknown = RecordId::from_external_id(&a, "unknown");
    records
        .erase(&a, &[ids[2], ids[0], unknown, ids[0], record(&b, "1").id])
        .await
        .unwrap();
    assert_eq!(records.get(&a, &ids).await.unwrap(), all[1..2]);
    assert_eq!(records.list(&a, 0, 9).await.unwrap(), (all[1..2].to_vec(), None));
    let session = records.session(&a, all[1].session, ids[1], 9, 9).await.unwrap();
    assert_eq!(session, all[1..2]);
    assert_eq!(records.space(&a).await.unwrap().unwrap().records, 1);
    assert_eq!(records.space(&b).await.unwrap().unwrap().records, 1, "of another space");
    records.erase(&a, &ids[..1]).await.unwrap();
    assert_eq!(records.space(&a).await.unwrap().unwrap().records, 1, "once only");

    let claims = records
        .claim(&a, &[(ids[0], [2; 32]), (ids[1], [2; 32])])
        .await
        .unwrap();
    assert_eq!(claims, [Claim::Fresh, Claim::Conflict]);
    let anew = Record {
        text: "told again".to_owned(),
        ..all[0].clone()
    };
    records.put(&a, std::slice::from_ref(&anew)).await.unwrap();
    assert_eq!(records.get(&a, &ids[..1]).await.unwrap(), [anew]);
    records.erase(&space("gone"), &ids).await.unwrap();
}

/// Curations, notes and erasures survive a restart of the store.
pub async fn what_people_decided_survives(open: impl AsyncFn() -> Ports) {
    let a = space("a");
    let ports = open_empty(&open).await;
    ports.records.put(&a, &[record(&a, "1")]).await.unwrap();
    ports
        .records
        .put_curations(&a, Position(1), &[curation(1, "why")])
        .await
        .unwrap();
    ports.records.note(&a, "s", &[note(1, 1)], NOTES_MAX).await.unwrap();
    ports.records.erase(&a, &[record(&a, "1").id]).await.unwrap();
    drop(ports);

    let records = open().await.records;
    assert_eq!(records.curations(&a, None, 9).await.unwrap(), [curation(1, "why")]);
    assert_eq!(records.notes(&a, "s").await.unwrap(), [note(1, 1)]);
    assert!(records.list(&a, 0, 9).await.unwrap().0.is_empty());
}
