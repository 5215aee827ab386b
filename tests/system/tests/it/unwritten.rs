//! Stops the writer before each of its steps, as a kill would. A response contains everything that was accepted before
//! its question, or says in `degraded` that something may be missing.

use domain::id::SpaceId;
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Delivery, Point, Position};
use domain::unit::Unit;
use fixtures::wait_until;
use futures::StreamExt;
use futures::stream::BoxStream;
use host::{Context, Settings};
use serde_json::{Value, json};
use system::running::api::Api;
use system::servers::free_port;

/// Steps of a writer for a batch, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    StoreRecords,
    StoreUnits,
    StorePoints,
    MarkWritten,
    Settle,
}

const STEPS: [Step; 5] = [
    Step::StoreRecords,
    Step::StoreUnits,
    Step::StorePoints,
    Step::MarkWritten,
    Step::Settle,
];

/// A batch that is being written.
struct Batch {
    delivery: Option<Delivery>,
    message: RecordsAcceptedV1,
    units: Vec<Unit>,
    position: Position,
}

fn space() -> SpaceId {
    "talk".parse().unwrap()
}

impl Batch {
    async fn next(deliveries: &mut BoxStream<'static, domain::port::Result<Delivery>>) -> Batch {
        let delivery = deliveries.next().await.unwrap().unwrap();
        let message: RecordsAcceptedV1 = serde_json::from_slice(&delivery.frame.payload).unwrap();
        let places: Vec<usize> = (0..message.records.len()).collect();
        Batch {
            units: writer::write_turn_units(&message.records, &places),
            position: delivery.position,
            delivery: Some(delivery),
            message,
        }
    }

    async fn take(&mut self, step: Step, context: &Context) {
        let stores = &context.backends;
        match step {
            Step::StoreRecords => stores.records.put(&space(), &self.message.records).await.unwrap(),
            Step::StoreUnits => stores.graph.put_units(&space(), &self.units, &[]).await.unwrap(),
            Step::StorePoints => {
                let mut points = Vec::new();
                for unit in &self.units {
                    let dense = stores.embedder.embed(&writer::embedded_texts(unit)).await.unwrap();
                    points.push(Point {
                        unit: unit.id,
                        part: 0,
                        dense: dense[0].clone(),
                        words: text::meaning::sparse_vectors::stem_vector(&unit.text),
                        pieces: text::meaning::sparse_vectors::piece_vector(&unit.text),
                        observed_at: unit.observed_at.timestamp(),
                    });
                }
                stores.index.put(&space(), &points, &[]).await.unwrap();
            }
            Step::MarkWritten => stores.records.mark_written(&space(), self.position).await.unwrap(),
            Step::Settle => self.delivery.take().unwrap().settler.done().await.unwrap(),
        }
    }
}

/// Asks a question that sees everything that was stored before it, because it waits for a write.
async fn ask_question(api: &Api, after: &str) -> Value {
    let question = json!({ "question": "Who adopted the greyhound?", "after": after, "budget": { "ms": 20_000 } });
    let (status, body) = api.post("/spaces/talk/query", &question).await;
    assert_eq!(status, 200, "{body}");
    body
}

/// Sends a record and returns the watermark.
async fn send_record(api: &Api, id: &str, text: &str) -> String {
    let record = json!({ "id": id, "actor": "Ines", "text": text, "observed_at": "2026-03-01T10:00:00Z" });
    api.send_records("talk", &json!([record])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_reports_accepted_records_that_it_may_lack() {
    let dir = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let mut settings = Settings::default();
    settings.set_key("gateway.listen", address.as_str()).unwrap();
    let context = Context::embedded_with(dir.path(), settings).await.unwrap();
    let (subject, group) = (RecordsAcceptedV1::SUBJECT, RecordsAcceptedV1::GROUP);
    let mut deliveries = context.backends.bus.subscribe(subject, group).await.unwrap();
    let ctx = context.clone();
    let services = tokio::spawn(async move {
        tokio::try_join!(gateway::run(ctx.clone()), router::run(ctx.clone()), reader::run(ctx)).map(|_| ())
    });
    let is_ready = async || context.readiness.missing_components().is_empty();
    wait_until("the services are ready", is_ready).await;
    let api = Api::new(&address).unwrap();
    assert_eq!(api.put("/spaces/talk").await.0, 201);

    let written = send_record(&api, "1", "I water the fern.").await;
    let mut first = Batch::next(&mut deliveries).await;
    for step in STEPS {
        first.take(step, &context).await;
    }
    assert_eq!(
        ask_question(&api, &written).await["degraded"],
        json!([]),
        "nothing waits, so nothing is said"
    );

    send_record(&api, "2", "I adopted the greyhound.").await;
    let mut batch = Batch::next(&mut deliveries).await;
    for step in STEPS {
        let body = ask_question(&api, &written).await;
        let says = body["degraded"].to_string().contains("not searchable yet");
        let has = body["pack"]["text"].as_str().unwrap().contains("greyhound");
        assert!(has || says, "before {step:?}: {body}");
        let is_marked = step > Step::MarkWritten;
        assert_eq!(says, !is_marked, "before {step:?}: {body}");
        assert!(has || !is_marked, "before {step:?}: {body}");
        batch.take(step, &context).await;
    }
    let body = ask_question(&api, &written).await;
    assert_eq!(body["degraded"], json!([]), "{body}");
    assert!(body["pack"]["text"].as_str().unwrap().contains("greyhound"), "{body}");

    context.shutdown.cancel();
    services.await.unwrap().unwrap();
}
