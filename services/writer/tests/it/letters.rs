//! Tests of dead letters and erasure.

use domain::curation::Curation;
use domain::derived::Derived;
use domain::id::RecordId;
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{DeadLetter, DeadLetters, Position};
use domain::record::Record;
use fixtures::wait_for;
use futures::StreamExt;
use host::{Backends, Context};

use crate::erase::{House, erasure, says_nothing, with_secret, without};
use crate::late_curations::{correction, fact_of};
use crate::order::idle;
use crate::{record, space};

/// Publishes a batch, gives it up as if it could not be written, and returns its position.
pub(crate) async fn given_up(context: &Context, batch: &str, records: &[Record], curations: &[Curation]) -> Position {
    let message = RecordsAcceptedV1 {
        space: space(),
        batch: batch.to_owned(),
        created: None,
        records: records.to_vec(),
        curations: curations.to_vec(),
    };
    let position = context.publish_message(&message).await.unwrap();
    let bus = &context.backends.bus;
    let group = bus.subscribe(RecordsAcceptedV1::SUBJECT, RecordsAcceptedV1::GROUP);
    let delivery = group.await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(delivery.position, position);
    delivery.settler.dead_letter("broken").await.unwrap().unwrap();
    position
}

/// Stores the erasure of a record, of which the writer has no message.
async fn put_erasure(backends: &Backends, record: &Record) {
    let (space, curations) = (space(), [erasure(1, record)]);
    let stored = backends.records.put_curations(&space, Position(1), &curations);
    stored.await.unwrap();
}

/// Returns the only dead letter as soon as it does not contain the secret.
async fn wait_for_letter_without_the_secret(letters: &dyn DeadLetters) -> DeadLetter {
    wait_for("one letter is left, without the secret", async || {
        let left = letters.list(0, 9).await.unwrap();
        match left.as_slice() {
            [letter] if !letter.payload.contains("quaxbank") => Ok(letter.clone()),
            _ => Err(left),
        }
    })
    .await
}

/// Dead letters lose the erased records and keep the others, which are written when the batch is replayed.
#[tokio::test]
async fn dead_letters_lose_only_erased_records() {
    let (all, secret) = with_secret();
    let house = House::stopped("letters").await;
    let letters = house.context.backends.dead_letters.clone();
    let with_others = given_up(&house.context, "1", &all[..12], &[]).await;
    let alone = given_up(&house.context, "2", std::slice::from_ref(&secret), &[]).await;
    let of_others = given_up(&house.context, "3", &all[20..22], &[]).await;
    let house = house.started();
    let of_others = letters
        .list(0, 9)
        .await
        .unwrap()
        .into_iter()
        .find(|it| it.position == of_others);

    house.accept("4", &all[..8], &[]).await;
    idle(&house.context).await;
    house.accept("5", &[], &[erasure(1, &secret)]).await;
    idle(&house.context).await;
    let left = letters.list(0, 9).await.unwrap();
    says_nothing(&format!("{left:?}"));
    assert_eq!(left.len(), 2, "the one that held nothing else is gone: {left:?}");
    assert!(left.contains(&of_others.unwrap()), "is as it was");
    let records = house.context.backends.records.clone();
    assert!(
        records.is_written(&space(), alone).await.unwrap(),
        "nobody waits for it"
    );
    assert!(!records.is_written(&space(), with_others).await.unwrap());

    let shortened = left.iter().find(|it| it.position == with_others).unwrap();
    letters.replay(shortened.id).await.unwrap();
    idle(&house.context).await;
    let ids: Vec<RecordId> = all[..12].iter().map(|it| it.id).collect();
    let rest = without(&all[..12], std::slice::from_ref(&secret));
    assert_eq!(records.get(&space(), &ids).await.unwrap(), rest);
    assert!(records.is_written(&space(), with_others).await.unwrap());
    says_nothing(&house.all(&ids).await);
    drop((letters, records));
    house.ends_without_a_word().await;
}

/// If a record of a batch is erased before the batch becomes a dead letter, the dead letter does not contain it.
#[tokio::test]
async fn a_batch_given_up_after_an_erasure_loses_the_erased_record() {
    let (all, secret) = with_secret();
    let house = House::stopped("late").await;
    let letters = house.context.backends.dead_letters.clone();
    put_erasure(&house.context.backends, &secret).await;
    // No writer can store a record of another space, so the batch becomes a dead letter.
    let stray = Record {
        space: "elsewhere".parse().unwrap(),
        ..all[0].clone()
    };
    let house = house.started();
    house
        .context
        .publish_message(&RecordsAcceptedV1 {
            space: space(),
            batch: "1".to_owned(),
            created: None,
            records: vec![stray, secret],
            curations: Vec::new(),
        })
        .await
        .unwrap();
    idle(&house.context).await;
    let left = wait_for_letter_without_the_secret(&*letters).await;
    assert!(left.payload.contains("elsewhere"), "{left:?}");
    says_nothing(&format!("{left:?}"));
    drop(letters);
    house.ends_without_a_word().await;
}

/// A batch became a dead letter after the erasure of its record, and the writer was killed before it looked at it.
#[tokio::test]
async fn a_dead_letter_that_nobody_looked_at_loses_the_erased_record_at_the_next_start() {
    let (all, secret) = with_secret();
    let house = House::stopped("swept").await;
    let letters = house.context.backends.dead_letters.clone();
    put_erasure(&house.context.backends, &secret).await;
    given_up(&house.context, "1", &[all[0].clone(), secret], &[]).await;
    let house = house.started();
    let left = wait_for_letter_without_the_secret(&*letters).await;
    assert!(left.payload.contains(&all[0].external_id), "{left:?}");
    drop(letters);
    house.ends_without_a_word().await;
}

/// A dead letter loses the words of a correction of an erased fact, and keeps those of another correction.
#[tokio::test]
async fn dead_letters_lose_the_words_of_corrections_of_erased_facts() {
    let (gone, kept) = (
        record("m", 1, "Ann", "I live in Quaxbank."),
        record("m", 2, "Ann", "I live in Graz."),
    );
    let (of_gone, of_kept) = (fact_of(&gone, "Quaxbank"), fact_of(&kept, "Graz"));
    let house = House::stopped("corrections").await;
    for (number, fact, object) in [(1, &of_gone, "Zorbenheim"), (2, &of_kept, "Linz")] {
        let acts = [correction(number, fact.id, object)];
        given_up(&house.context, &number.to_string(), &[], &acts).await;
    }
    let house = house.started();
    house.accept("3", &[gone.clone(), kept], &[]).await;
    idle(&house.context).await;
    let backends = &house.context.backends;
    let facts = [of_gone, of_kept].map(Derived::Fact);
    backends.graph.put_derived(&space(), &facts, &[]).await.unwrap();
    let letters = async || format!("{:?}", backends.dead_letters.list(0, 9).await.unwrap());
    let before = letters().await;
    assert!(before.contains("Zorbenheim") && before.contains("Linz"), "{before}");

    house.accept("4", &[], &[erasure(9, &gone)]).await;
    idle(&house.context).await;
    let left = letters().await;
    assert!(!left.contains("Zorbenheim") && !left.contains("reason 1"), "{left}");
    assert!(left.contains("Linz") && left.contains("reason 2"), "{left}");
}
