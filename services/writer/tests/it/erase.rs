//! Tests of erasure: no trace remains of an erased record, and the rest is as if the record had never existed.

use std::path::PathBuf;
use std::time::Duration;

use domain::curation::{Act, Curation};
use domain::id::{CurationId, RecordId, UnitId};
use domain::message::{Message, RecordsAcceptedV1, UnitsOrganisedV1};
use domain::port::{Claim, Position, Search};
use domain::recall::{NOTES_MAX, Note, NoteKind, session_scope};
use domain::record::Record;
use domain::unit::Status;
use futures::StreamExt;
use host::Context;
use proptest::prelude::*;
use uuid::Uuid;

use crate::order::{dump, history, settled};
use crate::{record, space, start};

/// A running writer with a separate folder.
pub(crate) struct House {
    pub(crate) context: Context,
    service: tokio::task::JoinHandle<anyhow::Result<()>>,
    dir: PathBuf,
}

impl House {
    async fn new(name: &str) -> House {
        House::stopped(name).await.started()
    }

    /// Opens the stores without starting the writer.
    pub(crate) async fn stopped(name: &str) -> House {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::remove_dir_all(&dir).ok();
        let context = Context::embedded_with_defaults(&dir).await.unwrap();
        let records = &context.backends.records;
        records.create_space(&space(), start().to_utc()).await.unwrap();
        let service = tokio::spawn(async { Ok(()) });
        House { context, service, dir }
    }

    pub(crate) fn started(self) -> House {
        let service = tokio::spawn(writer::run(self.context.clone()));
        House { service, ..self }
    }

    /// Accepts a batch as the gateway does, and returns its position.
    pub(crate) async fn accept(&self, batch: &str, records: &[Record], curations: &[Curation]) -> Position {
        let claims: Vec<(RecordId, [u8; 32])> = records.iter().map(|it| (it.id, [7; 32])).collect();
        self.context.backends.records.claim(&space(), &claims).await.unwrap();
        let message = RecordsAcceptedV1 {
            space: space(),
            batch: batch.to_owned(),
            created: None,
            records: records.to_vec(),
            curations: curations.to_vec(),
        };
        self.context.publish_message(&message).await.unwrap()
    }

    /// Returns everything that can be read from the space, including retired units.
    pub(crate) async fn all(&self, ids: &[RecordId]) -> String {
        let backends = &self.context.backends;
        let records = backends.records.list(&space(), 0, 10_000).await.unwrap();
        let by_id = backends.records.get(&space(), ids).await.unwrap();
        let changes = backends.graph.changes(&space(), 0, 10_000).await.unwrap();
        format!("{records:?} {by_id:?} {changes:?}")
    }

    /// Stops the writer, and asserts that its files do not contain the secret.
    pub(crate) async fn ends_without_a_word(self) {
        let House { context, service, dir } = self;
        context.shutdown.cancel();
        service.await.unwrap().unwrap();
        drop(context);
        for entry in std::fs::read_dir(&dir).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            says_nothing(&String::from_utf8_lossy(&bytes));
        }
        std::fs::remove_dir_all(&dir).ok();
    }

    async fn end(self) {
        self.context.shutdown.cancel();
        self.service.await.unwrap().unwrap();
        drop(self.context);
        std::fs::remove_dir_all(&self.dir).ok();
    }
}

pub(crate) fn erasure(number: usize, record: &Record) -> Curation {
    Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: start().to_utc(),
        by: String::new(),
        act: Act::EraseRecord { record: record.id },
        reason: String::new(),
    }
}

fn erasures(records: &[Record]) -> Vec<Curation> {
    (0..).zip(records).map(|(number, it)| erasure(number, it)).collect()
}

/// Returns a conversation with a secret in the middle. Its neighbours repeat it, in the question they answer and in
/// their addressee.
pub(crate) fn with_secret() -> (Vec<Record>, Record) {
    let mut all = history();
    let secret = Record {
        text: "Zebulon, do you still owe the quaxbank 900 florins?".to_owned(),
        actor: "Quirinus".to_owned(),
        ..all[7].clone()
    };
    all[7] = secret.clone();
    (all, secret)
}

pub(crate) fn without(all: &[Record], gone: &[Record]) -> Vec<Record> {
    all.iter()
        .filter(|it| gone.iter().all(|gone| gone.id != it.id))
        .cloned()
        .collect()
}

pub(crate) fn says_nothing(all: &str) {
    for word in ["Zebulon", "quaxbank", "florins", "Quirinus"] {
        let at = all
            .find(word)
            .map(|at| all[at.saturating_sub(200)..].chars().take(300).collect::<String>());
        assert_eq!(at, None, "{word}");
    }
}

#[tokio::test]
async fn no_trace_of_an_erased_record_remains() {
    let (all, secret) = with_secret();
    let house = House::new("secret").await;
    let backends = &house.context.backends;
    house.accept("1", &all, &[]).await;
    settled(&house.context).await;
    let before = house.all(&[secret.id]).await;
    let mention_count = before.matches("quaxbank").count();
    assert!(
        mention_count >= 5,
        "record, turn, event and an answer tell of it: {mention_count}"
    );
    let search = Search {
        words: Some(text::meaning::sparse_vectors::stem_vector("quaxbank florins")),
        limit: 5,
        ..Search::default()
    };
    assert!(!backends.index.search(&space(), &search).await.unwrap().words.is_empty());

    let position = house.accept("2", &[], &[erasure(1, &secret)]).await;
    settled(&house.context).await;
    assert!(
        !backends.records.is_written(&space(), position).await.unwrap(),
        "not by the writer alone"
    );
    says_nothing(&house.all(&[secret.id]).await);
    assert!(backends.index.search(&space(), &search).await.unwrap().words.is_empty());
    let left = backends.graph.changes(&space(), 0, 10_000).await.unwrap();
    let turn = left.iter().find(|it| it.unit.id == UnitId::of_turn(secret.id)).unwrap();
    assert_eq!(turn.unit.status, Status::Superseded, "who follows the feed is told");
    assert_eq!(
        backends.records.space(&space()).await.unwrap().unwrap().records,
        all.len() as u64 - 1
    );

    house.ends_without_a_word().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn remaining_data_are_the_same_as_if_the_erased_records_had_never_existed(
        gone in prop::collection::btree_set(0..history().len(), 1..5),
        run in 0..12_usize,
        batches in 1..3_usize,
    ) {
        let all = history();
        let length = all.len();
        let gone: std::collections::BTreeSet<usize> =
            gone.into_iter().flat_map(|it| it..length.min(it + 1 + run % 4 * run)).collect();
        let gone: Vec<Record> = gone.into_iter().map(|it| all[it].clone()).collect();
        let rest = without(&all, &gone);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (expected, found) = runtime.block_on(async {
            let house = House::new("never").await;
            house.accept("1", &rest, &[]).await;
            settled(&house.context).await;
            let expected = dump(&house.context, std::slice::from_ref(&rest)).await;
            house.end().await;

            let house = House::new("erased").await;
            house.accept("1", &all, &[]).await;
            settled(&house.context).await;
            for (number, some) in erasures(&gone).chunks(gone.len().div_ceil(batches)).enumerate() {
                house.accept(&format!("erase {number}"), &[], some).await;
            }
            settled(&house.context).await;
            let found = dump(&house.context, std::slice::from_ref(&rest)).await;
            house.end().await;
            (expected, found)
        });
        crate::order::similar_asserts(&expected, &found)?;
    }
}

#[tokio::test]
async fn repeating_an_erasure_is_harmless() {
    let (all, secret) = with_secret();
    let house = House::new("again").await;
    house.accept("1", &all, &[]).await;
    settled(&house.context).await;
    house.accept("2", &[], &[erasure(1, &secret)]).await;
    settled(&house.context).await;
    let rest = without(&all, std::slice::from_ref(&secret));
    let once = dump(&house.context, std::slice::from_ref(&rest)).await;
    for batch in ["3", "4"] {
        house.accept(batch, &[], &[erasure(1, &secret)]).await;
        settled(&house.context).await;
        assert_eq!(dump(&house.context, std::slice::from_ref(&rest)).await, once);
    }
    // The original batch is delivered once more, late: the erased record does not come back, because it was not
    // accepted again.
    let message = RecordsAcceptedV1 {
        space: space(),
        batch: "5".to_owned(),
        created: None,
        records: all.clone(),
        curations: Vec::new(),
    };
    house.context.publish_message(&message).await.unwrap();
    settled(&house.context).await;
    assert_eq!(dump(&house.context, std::slice::from_ref(&rest)).await, once);
    says_nothing(&house.all(&[secret.id]).await);
    let records = &house.context.backends.records;
    let claim = [(secret.id, [8; 32])];
    assert_eq!(
        records.claim(&space(), &claim).await.unwrap(),
        [Claim::Fresh],
        "it is free"
    );
    records.erase(&space(), &[secret.id]).await.unwrap();

    let anew = Record {
        text: "I water the fern.".to_owned(),
        ..secret.clone()
    };
    house.accept("6", std::slice::from_ref(&anew), &[]).await;
    settled(&house.context).await;
    assert_eq!(records.get(&space(), &[anew.id]).await.unwrap(), [anew]);
    house.end().await;
}

/// The writer is killed between the erasure and the announcement. The next delivery of the message completes the
/// work.
#[tokio::test]
async fn an_interrupted_erasure_is_completed() {
    let (all, secret) = with_secret();
    let rest = without(&all, std::slice::from_ref(&secret));
    let house = House::new("whole").await;
    house.accept("1", &rest, &[]).await;
    settled(&house.context).await;
    let expected = dump(&house.context, std::slice::from_ref(&rest)).await;
    house.end().await;
    for retired in [false, true] {
        let house = House::new("half").await;
        house.accept("1", &all, &[]).await;
        settled(&house.context).await;
        let backends = &house.context.backends;
        let curation = erasure(1, &secret);
        backends
            .records
            .put_curations(&space(), Position(1), std::slice::from_ref(&curation))
            .await
            .unwrap();
        backends.records.erase(&space(), &[secret.id]).await.unwrap();
        if retired {
            let turn = [UnitId::of_turn(secret.id)];
            backends.graph.put_units(&space(), &[], &turn).await.unwrap();
        }
        house.accept("2", &[], &[curation]).await;
        settled(&house.context).await;
        says_nothing(&house.all(&[secret.id]).await);
        let found = dump(&house.context, std::slice::from_ref(&rest)).await;
        crate::order::similar_asserts(&expected, &found).unwrap();
        house.end().await;
    }
}

/// Curations are stored and announced even if they affect no unit.
#[tokio::test]
async fn a_batch_with_only_curations_is_written() {
    let house = House::new("alone").await;
    let organised = house
        .context
        .backends
        .bus
        .subscribe(UnitsOrganisedV1::SUBJECT, "clusterer");
    let mut organised = organised.await.unwrap();
    let curation = Curation {
        act: Act::PinUnit {
            unit: UnitId::of_turn(record("talk", 1, "Ana", "x").id),
        },
        ..erasure(1, &record("talk", 1, "Ana", "x"))
    };
    let position = house.accept("1", &[], std::slice::from_ref(&curation)).await;
    settled(&house.context).await;
    let records = &house.context.backends.records;
    assert!(
        !records.is_written(&space(), position).await.unwrap(),
        "that is for the clusterer to say"
    );
    assert_eq!(records.curations(&space(), None, 9).await.unwrap(), [curation]);
    let next = tokio::time::timeout(Duration::from_secs(60), organised.next());
    let delivery = next.await.unwrap().unwrap().unwrap();
    let message: UnitsOrganisedV1 = serde_json::from_slice(&delivery.frame.payload).unwrap();
    assert_eq!(
        (message.space, message.position, message.acts),
        (space(), position, true)
    );
    delivery.settler.done().await.unwrap();
    drop(organised);
    house.end().await;
}

#[tokio::test]
async fn the_recall_ledger_of_a_session_is_erased_with_its_last_record() {
    let house = House::new("ledgers").await;
    let [last, one_of_two, other] = [("m", 1), ("n", 2), ("n", 3)].map(|it| record(it.0, it.1, "Ana", "I bake bread."));
    house.accept("1", &[last.clone(), one_of_two.clone(), other], &[]).await;
    let records = house.context.backends.records.clone();
    let note = Note {
        subject: Uuid::nil(),
        kind: NoteKind::Said,
        at: start().to_utc(),
    };
    for session in ["m", "n"] {
        let scope = session_scope(session);
        records.note(&space(), &scope, &[note], NOTES_MAX).await.unwrap();
    }
    house.accept("2", &[], &erasures(&[last, one_of_two])).await;
    settled(&house.context).await;
    let notes = async |session: &str| records.notes(&space(), &session_scope(session)).await.unwrap();
    assert_eq!((notes("m").await, notes("n").await), (Vec::new(), vec![note]));
    drop(records);
    house.end().await;
}
