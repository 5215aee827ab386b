//! Tests of the reasons that users give for undoing a merge or rejecting a label or summary: such a reason may quote
//! a record that is erased later.

use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::id::{CurationId, MergeId, PageId, ReadingId, RecordId, TopicId, UnitId};
use domain::merge::{Merge, MergeOf};
use domain::page::{Dimension, Line, Page, PageStatus, Section};
use domain::reading::{Reading, ReadingKind};
use domain::record::Record;
use domain::topic::Member;
use fixtures::sample_reading;
use uuid::Uuid;

use crate::erase::{House, erasure};
use crate::order::settled;
use crate::{record, space, start};

fn merge(of: MergeOf, kept: Uuid, merged: Uuid, names: [&str; 2]) -> Merge {
    Merge {
        id: MergeId::from_pair(kept, merged),
        of,
        kept,
        merged,
        names: names.map(str::to_owned),
        similarity: 0.9,
        same_event: true,
        has_overlap: true,
        relation_type: None,
        reason: "alike".to_owned(),
        records: Vec::new(),
        since: None,
        undone: true,
        undone_at: None,
    }
}

fn undo(number: u64, merge: &Merge) -> Curation {
    Curation {
        id: CurationId::from_external_id(&space(), &format!("undo {number}")),
        at: start().to_utc(),
        by: String::new(),
        act: Act::UndoMerge { merge: merge.id },
        reason: format!("reason {number}"),
    }
}

#[tokio::test]
async fn a_reason_for_undoing_a_merge_is_redacted_with_the_merged_records() {
    let house = House::stopped("reasons").await.started();
    let gone = record("m", 1, "Ann", "Oona Quaxbank called me yesterday.");
    let kept = record("m", 2, "Ann", "I watered the fern with Ben.");
    house.accept("1", &[gone.clone(), kept.clone()], &[]).await;
    settled(&house.context).await;
    let [one, two, three, four] = [1, 2, 3, 4].map(Uuid::from_u128);
    let merges = [
        merge(MergeOf::Entities, one, two, ["Oona Quaxbank", "Oona"]),
        merge(MergeOf::Units, UnitId::of_turn(gone.id).uuid(), three, ["", ""]),
        merge(MergeOf::Units, UnitId::of_turn(kept.id).uuid(), four, ["", ""]),
        merge(MergeOf::Entities, three, four, ["Fern", "Farn"]),
    ];
    let backends = &house.context.backends;
    let items = merges.clone().map(Derived::Merge);
    backends.graph.put_derived(&space(), &items, &[]).await.unwrap();
    let acts: Vec<Curation> = (0..).zip(&merges).map(|(number, it)| undo(number, it)).collect();
    house.accept("2", &[], &acts).await;
    settled(&house.context).await;
    let reasons = async || {
        let mut stored = backends.records.curations(&space(), None, 99).await.unwrap();
        stored.retain(|it| matches!(it.act, Act::UndoMerge { .. }));
        let mut reasons: Vec<String> = stored.into_iter().map(|it| it.reason).collect();
        reasons.sort();
        reasons
    };
    assert_eq!(reasons().await, ["reason 0", "reason 1", "reason 2", "reason 3"]);

    let erase = Curation {
        act: Act::EraseRecord { record: gone.id },
        reason: String::new(),
        ..undo(9, &merges[0])
    };
    house.accept("3", &[], &[erase]).await;
    settled(&house.context).await;
    assert_eq!(reasons().await, ["", "", "reason 2", "reason 3"]);
}

/// Returns a reading in which a model labels the topic founded by the event of `first`; the model was also shown
/// another record.
fn label(first: &Record, beside: RecordId) -> Reading {
    Reading {
        id: ReadingId::of_topic_label(first.id),
        kind: ReadingKind::Label,
        session: first.session,
        beside: vec![beside],
        digest: "0".repeat(64),
        prompt: "labels/1".to_owned(),
        at: start().to_utc(),
        output: "{}".to_owned(),
        ..sample_reading(&space(), first.id)
    }
}

#[tokio::test]
async fn a_reason_for_rejecting_a_label_is_redacted_with_the_shown_records() {
    let house = House::stopped("label reasons").await.started();
    let gone = record("m", 1, "Ann", "Oona Quaxbank called me yesterday.");
    let kept = record("n", 2, "Ann", "I watered the fern with Ben.");
    house.accept("1", &[gone.clone(), kept.clone()], &[]).await;
    settled(&house.context).await;
    let topic = |it: &Record| TopicId::from_founding_unit(UnitId::of_event(it.id));
    let other = TopicId::from_uuid(Uuid::from_u128(7));
    let backends = &house.context.backends;
    let member = Derived::Member(Member {
        unit: UnitId::of_event(gone.id),
        topic: topic(&gone),
        similarity: 1.0,
    });
    backends.graph.put_derived(&space(), &[member], &[]).await.unwrap();
    let stored = backends.readings.put(&space(), &[label(&kept, gone.id)]).await.unwrap();
    assert_eq!(stored.len(), 1);
    let act = |(number, topic): (u64, TopicId)| Curation {
        id: CurationId::from_external_id(&space(), &format!("undo {number}")),
        at: start().to_utc(),
        by: String::new(),
        act: Act::UndoLabel { topic },
        reason: format!("reason {number}"),
    };
    let acts: Vec<Curation> = (0..).zip([topic(&gone), topic(&kept), other]).map(act).collect();
    house.accept("2", &[], &acts).await;
    let erase = Curation {
        id: CurationId::from_external_id(&space(), "erase"),
        act: Act::EraseRecord { record: gone.id },
        reason: String::new(),
        ..act((9, other))
    };
    house.accept("3", &[], &[erase]).await;
    settled(&house.context).await;
    let mut stored = backends.records.curations(&space(), None, 99).await.unwrap();
    stored.retain(|it| matches!(it.act, Act::UndoLabel { .. }));
    let mut reasons: Vec<String> = stored.into_iter().map(|it| it.reason).collect();
    reasons.sort();
    assert_eq!(reasons, ["", "", "reason 2"]);
}

/// Returns a page with a line from the turn of a record.
fn page(number: u128, record: &Record) -> Page {
    let line = Line {
        text: record.text.clone(),
        unit: UnitId::of_turn(record.id),
        observed_at: start().to_utc(),
        fact: None,
        until: None,
    };
    Page {
        id: PageId::from_uuid(Uuid::from_u128(number)),
        dimension: Dimension::Figure,
        title: "Ann".to_owned(),
        summary: "Ann waters ferns.".to_owned(),
        aliases: Vec::new(),
        tags: Vec::new(),
        sections: vec![Section {
            title: "What happened".to_owned(),
            category: "events".to_owned(),
            summary: None,
            lines: vec![line],
            left_out: 0,
            former: Vec::new(),
            time: None,
            confidence: 0.8,
        }],
        links: Vec::new(),
        confidence: 0.8,
        updated_at: start().to_utc(),
        status: PageStatus::Active,
    }
}

#[tokio::test]
async fn a_reason_for_rejecting_a_summary_is_redacted_with_the_records_of_the_lines() {
    let house = House::stopped("summary reasons").await.started();
    let gone = record("m", 1, "Ann", "Oona Quaxbank called me yesterday.");
    let kept = record("n", 2, "Ann", "I watered the fern with Ben.");
    house.accept("1", &[gone.clone(), kept.clone()], &[]).await;
    settled(&house.context).await;
    let pages = [page(1, &gone), page(2, &kept)];
    let backends = &house.context.backends;
    let items = pages.clone().map(Derived::Page);
    backends.graph.put_derived(&space(), &items, &[]).await.unwrap();
    let act = |(number, page): (u64, PageId)| Curation {
        id: CurationId::from_external_id(&space(), &format!("undo {number}")),
        at: start().to_utc(),
        by: String::new(),
        act: Act::UndoSummary { page },
        reason: format!("reason {number}"),
    };
    let acts: Vec<Curation> = (0..).zip(pages.iter().map(|it| it.id)).map(act).collect();
    house.accept("2", &[], &acts).await;
    let erase = Curation {
        id: CurationId::from_external_id(&space(), "erase"),
        act: Act::EraseRecord { record: gone.id },
        reason: String::new(),
        ..act((9, pages[0].id))
    };
    house.accept("3", &[], &[erase]).await;
    settled(&house.context).await;
    let mut stored = backends.records.curations(&space(), None, 99).await.unwrap();
    stored.retain(|it| matches!(it.act, Act::UndoSummary { .. }));
    let mut reasons: Vec<String> = stored.into_iter().map(|it| it.reason).collect();
    reasons.sort();
    assert_eq!(reasons, ["", "reason 1"]);
}

/// The record is erased while the acts about its unit still wait in the queue.
#[tokio::test]
async fn a_reason_that_arrives_after_its_record_was_erased_is_redacted() {
    let house = House::stopped("late reasons").await.started();
    let gone = record("m", 1, "Ann", "Oona Quaxbank called me yesterday.");
    let kept = record("m", 2, "Ann", "I watered the fern with Ben.");
    house.accept("1", &[gone.clone(), kept.clone()], &[]).await;
    house.accept("2", &[], &[erasure(9, &gone)]).await;
    settled(&house.context).await;
    let forget = |(number, record): (u64, &Record)| Curation {
        id: CurationId::from_external_id(&space(), &format!("forget {number}")),
        at: start().to_utc(),
        by: String::new(),
        act: Act::ForgetUnit {
            unit: UnitId::of_turn(record.id),
        },
        reason: format!("reason {number}"),
    };
    let acts: Vec<Curation> = (0..).zip([&gone, &kept]).map(forget).collect();
    house.accept("3", &[], &acts).await;
    settled(&house.context).await;
    let records = &house.context.backends.records;
    let mut stored = records.curations(&space(), None, 99).await.unwrap();
    stored.retain(|it| matches!(it.act, Act::ForgetUnit { .. }));
    let mut reasons: Vec<String> = stored.into_iter().map(|it| it.reason).collect();
    reasons.sort();
    assert_eq!(reasons, ["", "reason 1"]);
}
