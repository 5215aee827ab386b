//! Tests of pictures that a language model describes: the units of their records are as if the caller had given the
//! caption.

use std::path::{Path, PathBuf};

use domain::id::{ReadingId, RecordId, UnitId};
use domain::message::RecordsAcceptedV1;
use domain::port::Search;
use domain::reading::Reading;
use domain::record::Record;
use domain::unit::{Grain, Unit};
use fixtures::{ChatEndpoint, wait_for, wait_until};
use host::{Context, Settings};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::erase::erasure;
use crate::order::settled;
use crate::{record, space, start};

/// A picture of one pixel.
pub(crate) const PIXEL: &str = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
const FERN: &str = "A tall fern in a turquoise pot on a balcony.";

/// A running writer.
pub(crate) struct Writer {
    pub(crate) context: Context,
    service: JoinHandle<anyhow::Result<()>>,
}

impl Writer {
    pub(crate) async fn start(dir: &Path, settings: &str) -> Writer {
        let settings = Settings::from_toml(settings, "the test").unwrap();
        let context = Context::embedded_with(dir, settings).await.unwrap();
        let records = &context.backends.records;
        records.create_space(&space(), start().to_utc()).await.unwrap();
        let service = tokio::spawn(writer::run(context.clone()));
        Writer { context, service }
    }

    pub(crate) async fn accept(&self, batch: &str, records: &[Record]) {
        let claims: Vec<(RecordId, [u8; 32])> = records.iter().map(|it| (it.id, [7; 32])).collect();
        self.context.backends.records.claim(&space(), &claims).await.unwrap();
        let message = RecordsAcceptedV1 {
            space: space(),
            batch: batch.to_owned(),
            created: None,
            records: records.to_vec(),
            curations: Vec::new(),
        };
        self.context.publish_message(&message).await.unwrap();
    }

    async fn unit(&self, record: &Record) -> Unit {
        let units = self
            .context
            .backends
            .graph
            .units(&space(), &[UnitId::of_turn(record.id)])
            .await;
        units.unwrap().pop().unwrap()
    }

    async fn reading(&self, record: &Record) -> Option<Reading> {
        let id = ReadingId::of_picture(record.id);
        self.context.backends.readings.get(&space(), &[id]).await.unwrap().pop()
    }

    /// Waits until the unit of a record has this caption; an empty caption means none.
    async fn captioned(&self, record: &Record, caption: &str) {
        let graph = &self.context.backends.graph;
        wait_for(&format!("the caption is {caption:?}"), async || {
            let units = graph.units(&space(), &[UnitId::of_turn(record.id)]).await.unwrap();
            match units.first() {
                Some(unit) if unit.caption == caption => Ok(()),
                other => Err(other.cloned()),
            }
        })
        .await;
    }

    /// Waits until no session is waiting to be read.
    async fn read(&self) {
        let wanted = async || {
            self.context
                .backends
                .readings
                .count_scheduled_sessions(&space())
                .await
                .unwrap()
        };
        wait_until("no session waits to be read", async || wanted().await == 0).await;
    }

    /// Requests a look at the session of a record.
    async fn want(&self, record: &Record) {
        let now = start().to_utc();
        let readings = &self.context.backends.readings;
        readings
            .schedule_sessions(&space(), &[record.session], now, now)
            .await
            .unwrap();
    }

    /// Returns the number of records that a word finds.
    async fn found(&self, word: &str) -> usize {
        let search = Search {
            words: Some(text::meaning::sparse_vectors::stem_vector(word)),
            limit: 10,
            ..Search::default()
        };
        let found = self.context.backends.index.search(&space(), &search).await.unwrap();
        found.words.len()
    }

    pub(crate) async fn stop(self) {
        self.context.shutdown.cancel();
        self.service.await.unwrap().unwrap();
    }
}

pub(crate) fn folder(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&dir).ok();
    dir
}

/// Returns settings of a writer that asks an endpoint, in which a session is over at once.
pub(crate) fn reading_settings(endpoint: &ChatEndpoint) -> String {
    format!(
        "{}[writer.readings]\nquiet_minutes = 0\ndelay_seconds = 0\n[writer.pictures]\nenabled = true\n",
        endpoint.settings()
    )
}

fn pictured(number: u64, text: &str, uri: &str, caption: Option<&str>) -> Record {
    Record {
        image_uri: Some(uri.to_owned()),
        image_caption: caption.map(str::to_owned),
        ..record("talk", number, "Ana", text)
    }
}

fn caption_reply(caption: &str) -> String {
    json!({ "caption": caption }).to_string()
}

const NO_NOTES: &str = r#"{"gists": [], "relations": [], "facts": [], "changes": []}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_described_picture_is_treated_like_one_with_a_caption() {
    let endpoint = ChatEndpoint::scripted(&[&caption_reply(&format!("{FERN} I like it.")), NO_NOTES], "500 No");
    let dir = folder("described");
    let writer = Writer::start(&dir, &reading_settings(&endpoint)).await;
    let bare = pictured(2, "Look at this!", PIXEL, None);
    let own = pictured(3, "And this.", PIXEL, Some("my red bicycle"));
    let away = pictured(4, "Or this.", "http://pictures.example.com/1.png", None);
    let all = [
        record("talk", 1, "Tom", "What is new?"),
        bare.clone(),
        own.clone(),
        away.clone(),
    ];
    writer.accept("1", &all).await;
    settled(&writer.context).await;
    writer.captioned(&bare, text::shorten_caption(FERN).as_str()).await;
    writer.read().await;

    // One call for the picture, then one for the passage, which contains the caption.
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    let shown = requests[0]["messages"][1].to_string();
    assert!(shown.contains(PIXEL) && !shown.contains("Look at this"), "{shown}");
    let passage = requests[1]["messages"][1]["content"].as_str().unwrap();
    assert!(passage.contains(&format!("[image: {FERN}]")), "{passage}");
    assert!(passage.contains("[image: my red bicycle]"), "{passage}");

    let reading = writer.reading(&bare).await.unwrap();
    assert_eq!((reading.outcome.left_out.len(), reading.spent.calls), (1, 1));
    assert_eq!(writer.reading(&own).await, None, "the caller's caption wins");
    let failed = writer.reading(&away).await.unwrap().failure.unwrap();
    assert!(failed.contains("[writer.pictures] hosts"), "{failed}");
    assert_eq!(writer.unit(&own).await.caption, "my red bicycle");
    assert_eq!(writer.unit(&away).await.caption, "");
    assert_eq!(writer.found("turquoise").await, 1);

    // The unit and the events around it are the same as if the caller had given the caption.
    let units = units_of_all(&writer.context).await;
    let events = units.iter().filter(|it| it.grain == Grain::Event);
    assert!(
        events.into_iter().any(|it| it.caption.contains("turquoise")),
        "{units:?}"
    );
    let given = Record {
        image_caption: Some(FERN.to_owned()),
        ..bare.clone()
    };
    let plain = Writer::start(&folder("given"), "").await;
    plain
        .accept("1", &[all[0].clone(), given, own.clone(), away.clone()])
        .await;
    settled(&plain.context).await;
    assert_eq!(units_of_all(&plain.context).await, units);
    plain.stop().await;

    // The units are derived again from the records, without a call.
    writer.accept("2", &all).await;
    settled(&writer.context).await;
    writer.read().await;
    assert_eq!(units_of_all(&writer.context).await, units);
    assert_eq!(endpoint.requests().len(), 2);
    writer.stop().await;
    std::fs::remove_dir_all(&dir).ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_description_disappears_with_its_record_and_a_caption_with_its_reading() {
    let endpoint = ChatEndpoint::scripted(
        &[
            &caption_reply("A letter of the quaxbank."),
            &caption_reply(FERN),
            NO_NOTES,
        ],
        "500 No",
    );
    let dir = folder("undescribed");
    let writer = Writer::start(&dir, &reading_settings(&endpoint)).await;
    let (secret, fern) = (
        pictured(1, "Look at this!", PIXEL, None),
        pictured(2, "And this!", PIXEL, None),
    );
    writer.accept("1", &[secret.clone(), fern.clone()]).await;
    writer.captioned(&fern, text::shorten_caption(FERN).as_str()).await;
    writer
        .captioned(&secret, text::shorten_caption("A letter of the quaxbank.").as_str())
        .await;
    writer.read().await;
    assert_eq!(writer.found("quaxbank").await, 1);
    let message = RecordsAcceptedV1 {
        space: space(),
        batch: "2".to_owned(),
        created: None,
        records: Vec::new(),
        curations: vec![erasure(1, &secret)],
    };
    writer.context.publish_message(&message).await.unwrap();
    settled(&writer.context).await;
    assert_eq!(writer.reading(&secret).await, None);
    assert_eq!(writer.found("quaxbank").await, 0);
    let left = format!("{:?}", units_of_all(&writer.context).await);
    assert!(!left.contains("quaxbank") && left.contains("turquoise"), "{left}");
    writer.stop().await;

    // Without a model, a caption disappears with its reading.
    let writer = Writer::start(&dir, "").await;
    assert_eq!(writer.found("turquoise").await, 1);
    let readings = &writer.context.backends.readings;
    readings
        .remove(&space(), &[ReadingId::of_picture(fern.id)])
        .await
        .unwrap();
    writer.want(&fern).await;
    writer.captioned(&fern, "").await;
    writer.read().await;
    assert_eq!(writer.found("turquoise").await, 0);
    let left = format!("{:?}", units_of_all(&writer.context).await);
    assert!(!left.contains("turquoise"), "{left}");
    writer.stop().await;
    std::fs::remove_dir_all(&dir).ok();
}

/// Returns the active units, by id.
async fn units_of_all(context: &Context) -> Vec<Unit> {
    let changes = context.backends.graph.changes(&space(), 0, 10_000).await.unwrap();
    let mut units: Vec<Unit> = changes.into_iter().map(|it| it.unit).collect();
    units.retain(|it| it.status == domain::unit::Status::Active);
    units.sort_by_key(|it| it.id);
    units
}
