use chrono::TimeDelta;
use domain::reading::ReadingKind;
use host::Context;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Maximum number of passages read in one look, as in the worker.
const A_TURN: usize = 4;

/// Separate stores for a test.
struct Stores {
    _dir: TempDir,
    context: Context,
}

/// A session in a separate space, whose readings are stored as a worker would store them.
struct Talk<'a> {
    backends: &'a Backends,
    space: SpaceId,
    records: Vec<Record>,
    mark: Option<Mark>,
    readings: i64,
}

/// The result of a look.
#[derive(Debug, PartialEq)]
struct Seen {
    unread: Vec<Vec<RecordId>>,
    is_open: bool,
    records_read: usize,
}

impl Stores {
    async fn open() -> Stores {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::embedded_with_defaults(dir.path()).await.unwrap();
        Stores { _dir: dir, context }
    }

    async fn talk(&self, name: &str) -> Talk<'_> {
        let (backends, space) = (&self.context.backends, name.parse().unwrap());
        backends
            .records
            .create_space(&space, DateTime::UNIX_EPOCH)
            .await
            .unwrap();
        Talk {
            backends,
            space,
            records: Vec::new(),
            mark: None,
            readings: 0,
        }
    }
}

impl Talk<'_> {
    fn session(&self) -> SessionId {
        SessionId::from_name(&self.space, "friday")
    }

    /// Stores records observed at these minutes.
    async fn write(&mut self, minutes: impl IntoIterator<Item = i64>) {
        let from = self.records.len();
        for minute in minutes {
            let number = self.records.len();
            self.records.push(Record {
                session: self.session(),
                session_name: "friday".to_owned(),
                ordinal: number as u64,
                actor: "Ann".to_owned(),
                text: "I repotted the fern.".to_owned(),
                observed_at: (DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)).fixed_offset(),
                ..fixtures::sample_record(&self.space, &format!("r{number}"))
            });
        }
        let records = &self.backends.records;
        records.put(&self.space, &self.records[from..]).await.unwrap();
    }

    async fn erase(&mut self, at: usize) {
        let record = self.records.remove(at);
        self.backends.records.erase(&self.space, &[record.id]).await.unwrap();
    }

    /// Looks at the whole session, and has the first unread passages read. If a record at the mark was erased, looks again
    /// from the start, as the worker does.
    async fn look(&mut self, mark: Option<Mark>, is_over: bool, turn: usize) -> Seen {
        if let Some(found) = self.look_once(mark, is_over, turn).await {
            return found;
        }
        let mark = self.mark.take();
        let again = self.look_once(mark, is_over, turn).await;
        again.expect("nothing is erased meanwhile")
    }

    /// Returns the result of one look, or none if a record at the mark was erased.
    async fn look_once(&mut self, mark: Option<Mark>, is_over: bool, turn: usize) -> Option<Seen> {
        let session = self.session();
        let (backends, space) = (self.backends, self.space.clone());
        let look = SessionLook::begin_after_mark(backends, &space, session, mark, is_over)
            .await
            .unwrap();
        let mut look = look.unwrap();
        let mut unread = Vec::new();
        let is_open = loop {
            match look.next_step().await.unwrap() {
                Step::Known(_) => {}
                Step::Unread(it) => {
                    if unread.len() < turn {
                        self.read(&it).await;
                    }
                    unread.push(it.records);
                }
                Step::End { is_open } => break Some(is_open),
                Step::Lost => break None,
            }
        };
        let (mark, records_read) = look.into_mark();
        self.mark = Some(mark);
        Some(Seen {
            unread,
            is_open: is_open?,
            records_read,
        })
    }

    /// Looks at the session up to the limit of a turn, as the worker does, and returns the number of records read.
    async fn turn(&mut self) -> usize {
        let mark = self.mark.take();
        let (backends, space) = (self.backends, self.space.clone());
        let look = SessionLook::begin_after_mark(backends, &space, self.session(), mark, false)
            .await
            .unwrap();
        let mut look = look.unwrap();
        let mut read = 0;
        while read < A_TURN {
            match look.next_step().await.unwrap() {
                Step::Known(_) => {}
                Step::Unread(it) => {
                    self.read(&it).await;
                    read += 1;
                }
                Step::End { .. } | Step::Lost => break,
            }
        }
        let (mark, records_read) = look.into_mark();
        self.mark = Some(mark);
        records_read
    }

    async fn read(&mut self, passage: &UnreadPassage) {
        self.read_as(ReadingKind::Passage, passage).await;
    }

    async fn read_as(&mut self, kind: ReadingKind, passage: &UnreadPassage) {
        self.readings += 1;
        let reading = Reading {
            id: Reading::id_of(&self.space, kind, &passage.records, &[], "").unwrap(),
            kind,
            session: self.session(),
            records: passage.records.clone(),
            beside: passage.before.clone(),
            prompt: PROMPT.to_owned(),
            model: "a model".to_owned(),
            at: DateTime::UNIX_EPOCH + TimeDelta::seconds(self.readings),
            ..fixtures::sample_reading(&self.space, passage.records[0])
        };
        self.backends.readings.put(&self.space, &[reading]).await.unwrap();
    }

    async fn marked(&mut self, is_over: bool, turn: usize) -> Seen {
        let mark = self.mark.take();
        self.look(mark, is_over, turn).await
    }

    fn ids(&self, from: usize, until: usize) -> Vec<RecordId> {
        self.records[from..until].iter().map(|it| it.id).collect()
    }
}

/// From the start, a look would read all 5,000 records each time, and 26 more for orientation.
#[tokio::test]
async fn examining_a_long_session_reads_only_new_records() {
    const RECORDS: usize = 5_000;
    let stores = Stores::open().await;
    let mut talk = stores.talk("long").await;
    talk.write(0..RECORDS as i64).await;
    let first = talk.turn().await;
    assert!((RECORDS..RECORDS + 2 * AT_ONCE).contains(&first), "{first}");
    let (mut looks, mut most) = (0, 0);
    while talk.readings < 311 {
        most = most.max(talk.turn().await);
        looks += 1;
    }
    assert!((70..90).contains(&looks), "{looks}");
    assert!(most <= LISTED_AT_ONCE + 2 * (BEFORE + AT_ONCE), "{most}");
    talk.turn().await;

    let idle = talk.marked(false, 0).await;
    assert_eq!((idle.unread.len(), idle.is_open), (0, true));
    assert!(idle.records_read <= LISTED_AT_ONCE + BEFORE + 24, "{idle:?}");
    talk.write(RECORDS as i64..RECORDS as i64 + 30).await;
    let grown = talk.marked(false, A_TURN).await;
    assert_eq!((grown.unread.len(), grown.is_open), (2, true));
    assert!(grown.records_read <= LISTED_AT_ONCE + BEFORE + 24 + 2 * 30, "{grown:?}");
    eprintln!(
        "records read: first look {first}, then at most {most}, idle {}, 30 new {}",
        idle.records_read, grown.records_read
    );
}

#[tokio::test]
async fn a_session_whose_only_record_was_erased_is_at_its_end() {
    let stores = Stores::open().await;
    let mut talk = stores.talk("emptied").await;
    talk.write([0]).await;
    let found = talk.marked(false, A_TURN).await;
    assert_eq!((found.unread.len(), found.is_open), (0, true));
    talk.erase(0).await;
    let mark = talk.mark.take();
    assert_eq!(talk.look_once(mark, false, A_TURN).await, None);
    let again = talk.marked(false, A_TURN).await;
    assert_eq!((again.unread.len(), again.is_open), (0, false));
}

#[tokio::test]
async fn a_record_before_the_mark_causes_the_whole_session_to_be_examined() {
    let stores = Stores::open().await;
    let mut talk = stores.talk("early").await;
    talk.write(0..60).await;
    let found = talk.marked(false, A_TURN).await;
    assert_eq!(found.unread, [talk.ids(0, 16), talk.ids(16, 32), talk.ids(32, 48)]);
    assert_eq!(talk.marked(false, 0).await.unread, Vec::<Vec<RecordId>>::new());
    assert_eq!(talk.mark.as_ref().unwrap().readings.len(), 3);
    // Appended records leave the mark unchanged.
    talk.write([60]).await;
    assert_eq!(talk.marked(false, 0).await.unread, Vec::<Vec<RecordId>>::new());
    assert_eq!(talk.mark.as_ref().unwrap().readings.len(), 3);
    talk.write([20]).await;
    let found = talk.marked(false, A_TURN).await;
    let inserted = talk.records.last().unwrap().id;
    let second = [talk.ids(16, 21), vec![inserted], talk.ids(21, 31)].concat();
    assert_eq!(found.unread, [second, talk.ids(31, 47)]);
    // The reading of the passage that began with record 32 shares records with a current passage.
    let stored = talk
        .backends
        .readings
        .of_session(&talk.space, talk.session())
        .await
        .unwrap();
    let mut firsts: Vec<RecordId> = stored.iter().map(|it| it.records[0]).collect();
    firsts.sort();
    let mut expected = [0, 16, 31].map(|it| talk.records[it].id);
    expected.sort();
    assert_eq!(firsts, expected);
}

#[tokio::test]
async fn an_erased_record_or_a_replaced_reading_causes_the_whole_session_to_be_examined() {
    let stores = Stores::open().await;
    let mut talk = stores.talk("erased").await;
    talk.write(0..60).await;
    talk.marked(false, A_TURN).await;
    talk.marked(false, 0).await;
    talk.erase(3).await;
    let found = talk.marked(false, A_TURN).await;
    assert_eq!(found.unread, [talk.ids(0, 16), talk.ids(16, 32), talk.ids(32, 48)]);
    talk.marked(false, 0).await;
    let before = UnreadPassage {
        before: Vec::new(),
        records: talk.ids(0, 3),
        former: None,
    };
    talk.read(&before).await;
    assert_eq!(talk.marked(false, 0).await.unread, [talk.ids(0, 16)]);
}

/// An import brings readings of a session that was divided differently. Readings of pictures do not belong to
/// passages.
#[tokio::test]
async fn a_reading_of_no_current_passage_is_removed_wherever_it_is() {
    let stores = Stores::open().await;
    let mut talk = stores.talk("brought").await;
    talk.write(0..60).await;
    talk.marked(false, A_TURN).await;
    talk.marked(false, 0).await;
    let brought = |records: Vec<RecordId>| UnreadPassage {
        before: Vec::new(),
        records,
        former: None,
    };
    let (inner, picture) = (brought(talk.ids(5, 9)), brought(talk.ids(6, 7)));
    talk.read(&inner).await;
    talk.read_as(ReadingKind::Picture, &picture).await;
    for _ in 0..2 {
        assert_eq!(talk.marked(false, 0).await.unread, Vec::<Vec<RecordId>>::new());
        let mark = talk.mark.as_ref().unwrap();
        assert_eq!((mark.readings.len(), mark.others.len()), (3, 1));
        let stored = talk
            .backends
            .readings
            .versions(&talk.space, talk.session())
            .await
            .unwrap();
        let ids: BTreeSet<ReadingId> = stored.iter().map(|it| it.id).collect();
        assert!(ids.contains(&ReadingId::of_picture(picture.records[0])), "{ids:?}");
        assert_eq!(ids.len(), 4, "{ids:?}");
    }
}

/// The last passage of a finished session may grow if something is written to the session again.
#[tokio::test]
async fn the_last_passage_is_not_marked() {
    let stores = Stores::open().await;
    let mut talk = stores.talk("last").await;
    talk.write(0..20).await;
    assert_eq!(talk.marked(true, A_TURN).await.unread, [talk.ids(0, 20)]);
    assert_eq!(talk.marked(true, 0).await.unread, Vec::<Vec<RecordId>>::new());
    talk.write(20..22).await;
    assert_eq!(talk.marked(true, A_TURN).await.unread, [talk.ids(0, 22)]);
    assert!(talk.mark.as_ref().unwrap().readings.is_empty());
}

#[tokio::test]
async fn sessions_of_a_deleted_space_are_not_examined() {
    let stores = Stores::open().await;
    let (backends, space) = (&stores.context.backends, "never".parse().unwrap());
    let session = SessionId::from_name(&space, "friday");
    let look = SessionLook::begin_after_mark(backends, &space, session, None, false)
        .await
        .unwrap();
    assert!(look.is_none());
    let mut empty = stores.talk("empty").await;
    let found = empty.marked(true, A_TURN).await;
    assert_eq!((found.unread.len(), found.is_open, found.records_read), (0, false, 0));
}

/// A change of a session between two looks.
#[derive(Clone, Debug)]
enum Change {
    Append(i64),
    Insert(i64),
    Erase(usize),
    Nothing,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (1..60_i64).prop_map(Change::Append),
        2 => (0..300_i64).prop_map(Change::Insert),
        2 => (0..300_usize).prop_map(Change::Erase),
        2 => Just(Change::Nothing),
    ]
}

#[test]
fn examining_a_session_with_and_without_a_mark_gives_the_same_result() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stores = runtime.block_on(Stores::open());
    let spaces = std::sync::atomic::AtomicU32::new(0);
    let changes = prop::collection::vec((change(), any::<bool>()), 1..12);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(24));
    let outcome = runner.run(&changes, |changes| {
        let name = format!("s{}", spaces.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        runtime.block_on(async {
            let mut talk = stores.talk(&name).await;
            let mut end = 0;
            for (change, is_over) in changes {
                match change {
                    Change::Append(count) => {
                        talk.write(end..end + count).await;
                        end += count;
                    }
                    Change::Insert(minute) => talk.write([minute.min(end)]).await,
                    Change::Erase(at) if at < talk.records.len() => talk.erase(at).await,
                    Change::Erase(_) | Change::Nothing => {}
                }
                let marked = talk.marked(is_over, 0).await;
                let mark = talk.mark.take();
                let whole = talk.look(None, is_over, 0).await;
                prop_assert_eq!((&marked.unread, marked.is_open), (&whole.unread, whole.is_open));
                talk.mark = mark;
                talk.marked(is_over, A_TURN).await;
            }
            Ok(())
        })
    });
    outcome.unwrap();
}
