use domain::id::{RecordId, SpaceId, UnitId};
use domain::port::Point;
use domain::record::Modality;
use domain::relation::{Relation, RelationKind};
use domain::unit::{Grain, Status, Unit};

use crate::harness::Gateway;

fn unit(name: &str) -> UnitId {
    let space: SpaceId = "s".parse().unwrap();
    UnitId::turn(RecordId::derive(&space, name))
}

async fn call(gateway: &Gateway, tool: &str, arguments: &str) -> String {
    let reply = gateway
        .send(&format!("POST /v1/spaces/s/tools/{tool}"), arguments)
        .await;
    assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
    reply.text
}

#[tokio::test]
async fn a_bad_call_is_told_to_the_model() {
    let gateway = Gateway::new().await;
    let specs = gateway.send("GET /v1/spaces/s/tools", "").await.json();
    let names: Vec<&str> = specs["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "expand_unit",
            "lexical_retrieve",
            "query_event_context",
            "semantic_retrieve"
        ]
    );
    for (tool, arguments, expected) in [
        (
            "rm",
            "{}",
            "unknown_tool\",\"message\":\"there is no such tool; there are: expand_unit, lexical_retrieve",
        ),
        (
            "semantic_retrieve",
            "{}",
            "bad_arguments\",\"message\":\"missing field `query`",
        ),
        ("semantic_retrieve", "[]", "bad_arguments"),
        (
            "semantic_retrieve",
            r#"{"query":"x","limit":99}"#,
            "limit: is not 1 to 50",
        ),
        (
            "semantic_retrieve",
            r#"{"query":"x","k":9}"#,
            "unknown field `k`, expected `query` or `limit`",
        ),
        ("lexical_retrieve", r#"{"query":" "}"#, "query: is empty"),
        (
            "expand_unit",
            r#"{"unit":"x"}"#,
            "bad_arguments\",\"message\":\"unit: UUID parsing failed",
        ),
        (
            "expand_unit",
            r#"{"unit":"00000000-0000-0000-0000-000000000000"}"#,
            "not_found",
        ),
    ] {
        let text = call(&gateway, tool, arguments).await;
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
}

#[tokio::test]
async fn tools_look_around() {
    let gateway = Gateway::new().await;
    gateway.start_writer();
    gateway.settled().await;
    let body = r#"{"records":[{"id":"a","text":"the harbour","observed_at":"2026-01-01"},{"id":"b","text":"two lamps","observed_at":"2026-01-01"}]}"#;
    let mark = gateway.send("POST /v1/spaces/s/records", body).await.json();
    gateway.written(mark["watermark"].as_str().unwrap()).await;
    let space: SpaceId = "s".parse().unwrap();
    let records = gateway.context.backends.records.list(&space, 0, 10).await.unwrap().0;
    let units: Vec<Unit> = records.iter().map(unit_of).collect();
    let graph = &gateway.context.backends.graph;
    graph.put_units(&space, &units, &[]).await.unwrap();
    let stores = &gateway.context.backends;
    let texts: Vec<String> = units.iter().map(|it| it.text.clone()).collect();
    let vectors = stores.embedder.embed(&texts).await.unwrap();
    let points: Vec<Point> = units
        .iter()
        .zip(vectors)
        .map(|(unit, dense)| point(unit, dense))
        .collect();
    stores.index.put(&space, &points, &[]).await.unwrap();
    let text = call(&gateway, "lexical_retrieve", r#"{"query":"Which lamps?"}"#).await;
    assert!(
        text.contains(r#""external_ids":["b"]"#) && !text.contains(r#"["a"]"#),
        "{text}"
    );
    let text = call(&gateway, "semantic_retrieve", r#"{"query":"port","limit":1}"#).await;
    assert!(text.contains(r#""external_ids":["a"]"#), "{text}");
    let relation = Relation {
        source: unit("a"),
        target: unit("b"),
        kind: RelationKind::Causes,
        label: String::new(),
        weight: 0.5,
        evidence: vec![records[0].id],
    };
    graph.put_relations(&space, &[relation]).await.unwrap();
    let text = call(&gateway, "expand_unit", &format!(r#"{{"unit":"{}"}}"#, unit("b"))).await;
    assert!(
        text.contains(r#""direction":"from""#) && text.contains(r#""relation":"causes""#),
        "{text}"
    );
    let text = call(
        &gateway,
        "query_event_context",
        &format!(r#"{{"unit":"{}","before":1}}"#, unit("b")),
    )
    .await;
    assert!(
        text.find(r#""text":"the harbour""#) < text.find(r#""text":"two lamps""#),
        "{text}"
    );
    let text = call(
        &gateway,
        "query_event_context",
        &format!(r#"{{"unit":"{}","before":0}}"#, unit("b")),
    )
    .await;
    assert!(
        !text.contains(r#""text":"the harbour""#) && text.contains(r#""text":"two lamps""#),
        "{text}"
    );
    let listed = gateway.send("GET /v1/spaces/s/units", "").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
}

fn point(unit: &Unit, dense: Vec<f32>) -> Point {
    Point {
        unit: unit.id,
        part: 0,
        dense,
        words: text::sparse::words(&unit.text),
        pieces: text::sparse::pieces(&unit.text),
        observed_at: unit.observed_at.timestamp(),
    }
}

fn unit_of(record: &domain::record::Record) -> Unit {
    Unit {
        id: UnitId::turn(record.id),
        grain: Grain::Turn,
        session: record.session,
        records: vec![record.id],
        external_ids: vec![record.external_id.clone()],
        observed_at: record.observed_at,
        ordinal: record.ordinal,
        modality: Modality::Text,
        actor: String::new(),
        addressee: String::new(),
        text: record.text.clone(),
        caption: String::new(),
        summary: record.text.clone(),
        times: Vec::new(),
        participants: Vec::new(),
        location: String::new(),
        action: String::new(),
        step: None,
        changes: Vec::new(),
        tag: String::new(),
        cues: Vec::new(),
        question: String::new(),
        derived_by: "test".into(),
        status: Status::Active,
        confidence: 1.0,
    }
}
