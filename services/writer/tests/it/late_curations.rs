//! Tests of curations about facts that are no longer stored. The clusterer does not run here, so the tests store and
//! remove the facts.

use domain::curation::{Act, Curation};
use domain::derived::Derived;
use domain::fact::{Aspect, Fact};
use domain::id::{CurationId, FactId};
use domain::record::Record;
use fixtures::{sample_fact, sample_unit};

use crate::erase::{House, erasure};
use crate::order::settled;
use crate::{record, space, start};

/// Returns the fact that Ann lives in a town, stated in a record.
pub(crate) fn fact_of(record: &Record, town: &str) -> Fact {
    let unit = sample_unit(&space(), &record.external_id);
    sample_fact(&unit, ["Ann", "lives in", town], Aspect::Place)
}

fn curation(number: usize, act: Act) -> Curation {
    Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: start().to_utc(),
        by: String::new(),
        act,
        reason: format!("reason {number}"),
    }
}

pub(crate) fn correction(number: usize, fact: FactId, object: &str) -> Curation {
    let object = object.to_owned();
    curation(number, Act::CorrectFact { fact, object })
}

fn undo(number: usize, act: &Curation) -> Curation {
    curation(number, Act::Undo { curation: act.id })
}

fn two_records() -> [Record; 2] {
    [
        record("m", 1, "Ann", "I live in Quaxbank."),
        record("m", 2, "Ann", "I live in Graz."),
    ]
}

/// Starts a writer and stores two records, with one fact of each.
async fn house_with_facts(name: &str, records: &[Record; 2], facts: &[Fact; 2]) -> House {
    let house = House::stopped(name).await.started();
    house.accept("records", records, &[]).await;
    settled(&house.context).await;
    let items = facts.clone().map(Derived::Fact);
    let graph = &house.context.backends.graph;
    graph.put_derived(&space(), &items, &[]).await.unwrap();
    house
}

async fn remove_fact(house: &House, fact: &Fact) {
    let removed = [Derived::Fact(fact.clone()).id()];
    let graph = &house.context.backends.graph;
    graph.put_derived(&space(), &[], &removed).await.unwrap();
}

async fn accept_acts(house: &House, batch: &str, acts: &[Curation]) {
    house.accept(batch, &[], acts).await;
    settled(&house.context).await;
}

/// Returns, for each of the acts, whether the store has its words. Everything else is always kept.
async fn has_words(house: &House, acts: &[Curation]) -> Vec<bool> {
    let records = &house.context.backends.records;
    let stored = records.curations(&space(), None, 99).await.unwrap();
    let check = |act: &Curation| {
        let found = stored.iter().find(|it| it.id == act.id).unwrap();
        assert!([act.clone(), act.clone().without_words()].contains(found), "{found:?}");
        found.has_words()
    };
    acts.iter().map(check).collect()
}

#[tokio::test]
async fn a_correction_that_arrives_after_the_erasure_of_its_record_is_redacted() {
    let records = two_records();
    let [of_gone, of_kept] = [fact_of(&records[0], "Quaxbank"), fact_of(&records[1], "Graz")];
    let house = house_with_facts("late corrections", &records, &[of_gone.clone(), of_kept.clone()]).await;
    accept_acts(&house, "erase", &[erasure(9, &records[0])]).await;
    remove_fact(&house, &of_gone).await;
    let correct = [
        correction(1, of_gone.id, "Zorbenheim"),
        correction(2, of_kept.id, "Linz"),
    ];
    for batch in ["correct", "correct again"] {
        accept_acts(&house, batch, &correct).await;
        assert_eq!(has_words(&house, &correct).await, [false, true], "{batch}");
    }

    let of_corrected = |at: usize, fact: &Fact| FactId::of_correction(fact.id, correct[at].id);
    let later = [
        undo(3, &correct[0]),
        undo(4, &correct[1]),
        correction(5, of_corrected(0, &of_gone), "Zorbenheim"),
        correction(6, of_corrected(1, &of_kept), "Wels"),
    ];
    accept_acts(&house, "later", &later).await;
    assert_eq!(has_words(&house, &later).await, [false, true, false, true]);
}

/// The fact is removed while its record is stored, as when newer rules no longer state it.
#[tokio::test]
async fn a_stored_correction_of_a_removed_fact_keeps_its_words() {
    let records = two_records();
    let [of_gone, of_kept] = [fact_of(&records[0], "Quaxbank"), fact_of(&records[1], "Graz")];
    let house = house_with_facts("gone facts", &records, &[of_gone.clone(), of_kept.clone()]).await;
    let correct = [
        correction(1, of_gone.id, "Zorbenheim"),
        correction(2, of_kept.id, "Linz"),
    ];
    accept_acts(&house, "correct", &correct).await;
    remove_fact(&house, &of_gone).await;
    let late = [correction(3, of_gone.id, "Zorbenheim")];
    accept_acts(&house, "late", &late).await;
    assert_eq!(has_words(&house, &correct).await, [true, true]);
    assert_eq!(has_words(&house, &late).await, [true]);

    // The fact may be the one of another record that is read again just now, so what is stored keeps its words.
    accept_acts(&house, "erase", &[erasure(9, &records[1])]).await;
    assert_eq!(has_words(&house, &correct).await, [true, false]);
    assert_eq!(has_words(&house, &late).await, [true]);
}
