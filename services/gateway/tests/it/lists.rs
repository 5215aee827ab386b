use std::collections::BTreeSet;

use domain::derived::Derived;
use domain::fact::Fact;
use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Frame;
use domain::record::Record;
use domain::unit::Unit;
use futures::StreamExt;
use serde_json::{Value, json};

use crate::harness::Gateway;
use crate::pages::unit;

/// Walks all pages and returns the field of every item.
pub(crate) async fn walk(gateway: &Gateway, path: &str, field: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let sign = if path.contains('?') { '&' } else { '?' };
    let mut call = format!("GET {path}{sign}limit=2");
    loop {
        let page = gateway.send(&call, "").await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|it| it[field].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { return seen };
        call = format!("GET {path}{sign}limit=2&after={next}");
    }
}

#[tokio::test]
async fn every_list_can_be_read_to_its_end() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    for name in ["b", "a", "c"] {
        gateway.send(&format!("PUT /v1/spaces/{name}"), "").await;
    }
    assert_eq!(walk(&gateway, "/v1/spaces", "space").await, ["a", "b", "c", "s"]);
    let records: Vec<String> = (0..5).map(|it| format!(r#"{{"id":"{it}","text":"x"}}"#)).collect();
    let body = format!(r#"{{"records":[{}]}}"#, records.join(","));
    let mark = gateway.send("POST /v1/spaces/s/records", &body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    assert_eq!(
        walk(&gateway, "/v1/spaces/s/records", "id").await,
        ["0", "1", "2", "3", "4"]
    );
}

#[tokio::test]
async fn records_are_filtered_by_session_actor_and_time() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    let line = |(id, session, actor, at): (&str, &str, &str, &str)| -> Value {
        json!({"id": id, "session": session, "actor": actor, "observed_at": at, "text": "x"})
    };
    let named = "5b1e6a52-6f0e-4c63-9a3f-6b1a4f1a7b10";
    let lines = [
        ("1", "mon", "Ann", "2026-03-02T10:00:00Z"),
        ("2", "tue", "Ben", "2026-03-03T10:00:00Z"),
        ("3", "mon", "ANN", "2026-03-02T11:00:00Z"),
        ("4", "mon", "Ben", "2026-03-02T12:00:00Z"),
        ("5", named, "Ann", "2026-03-04T10:00:00Z"),
    ];
    let body = json!({"records": lines.map(line)}).to_string();
    let mark = gateway.send("POST /v1/spaces/s/records", &body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    let monday = domain::id::SessionId::from_name(&"s".parse().unwrap(), "mon");
    for (filter, expected) in [
        ("session=mon".to_owned(), vec!["1", "3", "4"]),
        (format!("session={monday}"), vec!["1", "3", "4"]),
        (format!("session={named}"), vec!["5"]),
        ("session=sun".to_owned(), vec![]),
        ("actor=ann".to_owned(), vec!["1", "3", "5"]),
        ("actor=BEN&session=mon".to_owned(), vec!["4"]),
        (
            "from=2026-03-02T11:00:00Z&until=2026-03-04".to_owned(),
            vec!["2", "3", "4"],
        ),
        ("until=2026-03-02T11:00:00Z".to_owned(), vec!["1"]),
        // An unencoded `+` in a query string means a space.
        ("until=2026-03-02T13:00:00+02:00".to_owned(), vec!["1"]),
        ("until=2026-03-02T13:00:00%2B02:00".to_owned(), vec!["1"]),
        ("until=2026-03-02 11:00:00".replace(' ', "%20"), vec!["1"]),
    ] {
        let path = format!("/v1/spaces/s/records?{filter}");
        assert_eq!(walk(&gateway, &path, "id").await, expected, "{filter}");
    }
    for (filter, expected) in [
        ("session=", "422 session: is empty; leave it out instead"),
        ("actor=%00", "422 actor: holds the control character U+0000"),
        ("from=then", "422 from: is not a time like"),
        ("after=x", "422 after: must be the `next` of a page"),
        ("limit=0", "422 limit: must be 1 to 1000"),
        ("sessions=mon", "422 "),
    ] {
        let reply = gateway.send(&format!("GET /v1/spaces/s/records?{filter}"), "").await;
        assert!(reply.problem().starts_with(expected), "{reply:?}");
    }
}

/// Fills a space with long records, units, facts and dead letters.
async fn long(gateway: &Gateway, count: usize, bytes: usize) {
    let (space, text): (SpaceId, String) = ("s".parse().unwrap(), "x".repeat(bytes));
    let instant = domain::time::TimeSpan::from_instant("2026-01-01T00:00:00Z".parse().unwrap());
    let (mut records, mut units, mut facts) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..count {
        let id = RecordId::from_external_id(&space, &number.to_string());
        let record: Record =
            serde_json::from_value(json!({"id": id, "space": space, "external_id": number.to_string(),
            "session": id, "session_name": "", "ordinal": 0, "modality": "text", "actor": "", "text": text,
            "observed_at": "2026-01-01T00:00:00Z"}))
            .unwrap();
        let fact: Fact = serde_json::from_value(json!({"id": id, "subject": "Ann", "predicate": "says", "object": text,
            "aspect": "habit", "valid_from": instant, "recorded_at": "2026-01-01T00:00:00Z", "source": id, "confidence": 0.9}))
        .unwrap();
        records.push(record);
        units.push(Unit {
            id: UnitId::of_turn(id),
            text: text.clone(),
            ..unit(1)
        });
        facts.push(Derived::Fact(fact));
    }
    let stores = &gateway.context.backends;
    stores.records.put(&space, &records).await.unwrap();
    stores.graph.put_units(&space, &units, &[]).await.unwrap();
    stores.graph.put_derived(&space, &facts, &[]).await.unwrap();
    let mut deliveries = stores.bus.subscribe("long", "g").await.unwrap();
    for _ in 0..count {
        let frame = Frame {
            subject: "long".to_owned(),
            space: "s".to_owned(),
            payload: text.clone().into_bytes(),
            ..Frame::default()
        };
        stores.bus.publish(frame).await.unwrap();
        let delivery = deliveries.next().await.unwrap().unwrap();
        delivery.settler.dead_letter("long").await.unwrap();
    }
}

/// Long items make short pages: each list continues after them, and no item is skipped.
#[tokio::test]
async fn a_page_ends_at_its_size_limit() {
    let gateway = Gateway::new().await;
    let (count, bytes) = (150, 60_000);
    long(&gateway, count, bytes).await;
    for path in [
        "/v1/spaces/s/records",
        "/v1/spaces/s/units",
        "/v1/spaces/s/facts",
        "/v1/admin/dead-letters",
    ] {
        let (mut seen, mut pages, mut after) = (BTreeSet::new(), 0, String::new());
        loop {
            let reply = gateway.send(&format!("GET {path}?limit=1000{after}"), "").await;
            assert!(
                reply.text.len() < (4 << 20) + 2 * bytes,
                "{path}: {} bytes",
                reply.text.len()
            );
            let page = reply.json();
            let items = page["items"].as_array().unwrap();
            seen.extend(items.iter().map(|it| it["id"].to_string()));
            pages += 1;
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!((seen.len(), pages), (count, 3), "{path}");
    }
}
