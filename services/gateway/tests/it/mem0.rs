//! The API of mem0: calls of its clients, over a writer that makes one unit of each record and a router that ranks
//! units in order.

use axum::http::{StatusCode, header};
use domain::PortError;
use domain::curation::Act;
use domain::evidence::RankedUnit;
use domain::id::UnitId;
use domain::message::{RecordsAcceptedV1, RouteV1};
use domain::port::{Room, Selection};
use domain::record::Record;
use domain::unit::{Grain, Unit};
use serde_json::{Value, json};

use crate::harness::{Gateway, Reply, nothing};

mod exports;
mod keys;
mod large_lists;
mod profiles;
mod selectors;
mod updates;
mod webhooks;

const ENABLED: &str = "[gateway.mem0]\nenabled = true\n";
fn turn(record: &Record) -> Unit {
    let day = record.observed_at.format("%-d %B %Y");
    let summary = format!("[{day}] {}: {}", record.actor, record.text);
    let value = json!({"id": UnitId::of_turn(record.id), "grain": "turn", "session": record.session, "records": [record.id],
        "external_ids": [record.external_id], "observed_at": record.observed_at, "ordinal": record.ordinal, "modality": "text",
        "actor": record.actor, "text": record.text, "summary": summary, "derived_by": "test", "confidence": 1.0});
    serde_json::from_value(value).unwrap()
}

/// Starts a gateway with a writer that also makes units, and a router that finds every turn, the last one best.
async fn start(settings: &str) -> Gateway {
    let gateway = Gateway::with(settings).await;
    let context = gateway.context.clone();
    tokio::spawn(async move {
        let stores = context.backends.clone();
        let handle = async |message: RecordsAcceptedV1, meta: host::Meta| {
            let space = &message.space;
            stores.records.put(space, &message.records).await?;
            stores
                .records
                .put_curations(space, meta.position, &message.curations)
                .await?;
            let units: Vec<Unit> = message.records.iter().map(turn).collect();
            let mut gone = Vec::new();
            for it in &message.curations {
                if let Act::EraseRecord { record } = it.act {
                    stores.records.erase(space, &[record]).await?;
                    gone.push(UnitId::of_turn(record));
                }
            }
            stores.graph.put_units(space, &units, &gone).await?;
            stores.records.mark_written(space, meta.position).await
        };
        context
            .consume_messages::<_, PortError, _, _>("writer", 4, handle)
            .await
            .unwrap();
    });
    let context = gateway.context.clone();
    tokio::spawn(async move {
        let graph = context.backends.graph.clone();
        let answer = async |route: RouteV1| {
            let everything = Selection::default();
            let (units, _) = graph
                .select(&route.space, &everything, 0, Room::of_items(1_000))
                .await?;
            let turns = units.into_iter().rev().filter(|it| it.grain == Grain::Turn);
            let ranked = turns
                .take(route.ranked as usize)
                .zip(0_u8..)
                .map(|(it, place)| RankedUnit {
                    unit: it.id,
                    external_ids: it.external_ids,
                    text: it.text,
                    score: 2.0 - f32::from(place),
                    topic: None,
                });
            let ranked = ranked.collect();
            Ok::<_, PortError>(domain::message::RoutedV1 {
                ranked,
                ..nothing(route)
            })
        };
        context.serve_requests::<RouteV1, _, _, _>(4, answer).await.unwrap();
    });
    gateway.settled().await;
    gateway
}

async fn call(gateway: &Gateway, call: &str, body: Value) -> Value {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let reply = gateway.send(call, &body).await;
    assert_eq!(reply.status, StatusCode::OK, "{call}: {reply:?}");
    reply.json()
}

/// Adds a message; returns the id of the memory.
async fn add(gateway: &Gateway, text: &str, user: &str) -> String {
    let body = json!({"messages": [{"role": "user", "content": text}], "user_id": user});
    let added = call(gateway, "POST /mem0/v3/memories/add/", body).await;
    assert_eq!(added["status"], "SUCCEEDED", "{added}");
    added["results"][0]["id"].as_str().unwrap().to_owned()
}

fn memories(answer: &Value) -> Vec<&str> {
    answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["memory"].as_str().unwrap())
        .collect()
}

/// Checks that the reply is an error in the form of mem0 and returns `status detail`.
fn error(reply: &Reply) -> String {
    assert_eq!(reply.headers[header::CONTENT_TYPE], "application/json", "{reply:?}");
    format!("{} {}", reply.status.as_u16(), reply.json()["detail"].as_str().unwrap())
}

#[tokio::test]
async fn the_api_of_mem0_is_served_only_if_enabled() {
    let off = Gateway::new().await;
    assert_eq!(off.send("GET /mem0/v1/ping/", "").await.status, StatusCode::NOT_FOUND);
    let on = Gateway::with(ENABLED).await;
    for path in ["/mem0/v1/ping/", "/mem0/v1/ping"] {
        assert_eq!(call(&on, &format!("GET {path}"), Value::Null).await["status"], "ok");
    }
    let root = Gateway::with("[gateway.mem0]\nenabled = true\nprefix = \"\"\n").await;
    assert_eq!(call(&root, "GET /v1/ping/", Value::Null).await["status"], "ok");
    assert_eq!(root.send("GET /v1/spaces", "").await.status, StatusCode::OK);
    assert!(root.send("GET /v1/nothing", "").await.problem().starts_with("404"));
}

#[tokio::test]
async fn added_memories_are_found_listed_and_shown_immediately() {
    let gateway = start(ENABLED).await;
    let body = json!({"messages": [{"role": "user", "content": "I moved to Oslo."}, {"role": "assistant", "content": "Nice!"}],
        "user_id": "ann", "run_id": "monday", "agent_id": "bot", "metadata": {"topic": "home", "n": 3}, "infer": true,
        "timestamp": 1_683_554_400, "enable_graph": true, "output_format": "v1.1"});
    let added = call(&gateway, "POST /mem0/v3/memories/add/", body.clone()).await;
    let again = call(&gateway, "POST /mem0/v3/memories/add/", body).await;
    assert_eq!(added["results"][0]["event"], "ADD");
    assert_eq!(again["results"][0]["event"], "NONE");
    let event = format!("GET /mem0/v1/event/{}/", added["event_id"].as_str().unwrap());
    assert_eq!(call(&gateway, &event, Value::Null).await["status"], "SUCCEEDED");

    let expected = ["[8 May 2023] assistant: Nice!", "[8 May 2023] user: I moved to Oslo."];
    let filters = json!({"filters": {"user_id": "ann"}, "query": "Where does Ann live?", "rerank": true});
    let found = call(&gateway, "POST /mem0/v3/memories/search/", filters.clone()).await;
    assert_eq!(memories(&found), expected);
    let best = &found["results"][0];
    assert!((0.0..=1.0).contains(&best["score"].as_f64().unwrap()), "{best}");
    assert_eq!(best["metadata"], json!({"topic": "home", "n": "3"}));
    assert_eq!(
        [&best["user_id"], &best["agent_id"], &best["run_id"]],
        ["ann", "bot", "monday"]
    );
    assert_eq!(best["created_at"], "2023-05-08T14:00:00Z");

    let all = call(&gateway, "POST /mem0/v3/memories/?page=2&page_size=1", filters).await;
    assert_eq!((memories(&all).len(), &all["count"]), (1, &json!(2)));
    let all = call(&gateway, "GET /mem0/memories?user_id=ann&top_k=5", Value::Null).await;
    assert_eq!(memories(&all).len(), 2);
    let one = format!("GET /mem0/v1/memories/{}/", added["results"][0]["id"].as_str().unwrap());
    assert_eq!(call(&gateway, &one, Value::Null).await["memory"], expected[1]);
}

#[tokio::test]
async fn filters_are_evaluated_over_entities_metadata_and_moments() {
    let gateway = start(ENABLED).await;
    for (text, agent, city, at) in [
        ("one", "a", "Oslo", 1_600_000_000),
        ("two", "b", "Bergen", 1_700_000_000),
        ("three", "b", "Oslo", 1_750_000_000),
    ] {
        let body =
            json!({"messages": text, "user_id": "ann", "agent_id": agent, "metadata": {"city": city}, "timestamp": at});
        call(&gateway, "POST /mem0/memories", body).await;
    }
    let user = json!({"user_id": "ann"});
    for (filters, expected) in [
        (json!({"AND": [user, {"agent_id": "b"}]}), vec!["three", "two"]),
        (json!({"AND": [user, {"agent_id": {"in": ["a", "x"]}}]}), vec!["one"]),
        (
            json!({"AND": [user, {"metadata": {"city": "Oslo"}}, {"NOT": [{"agent_id": "a"}]}]}),
            vec!["three"],
        ),
        (
            json!({"AND": [user, {"created_at": {"gte": "2023-01-01", "lt": "2025-01-01"}}]}),
            vec!["two"],
        ),
        (
            json!({"AND": [user, {"OR": [{"city": {"ne": "Oslo"}}, {"keywords": {"icontains": "ONE"}}]}]}),
            vec!["two", "one"],
        ),
        (json!({"user_id": "*", "agent_id": "a"}), vec!["one"]),
        (json!({"AND": [user, {"categories": {"in": ["x"]}}]}), vec![]),
        (json!({"user_id": "nobody"}), vec![]),
    ] {
        let body = json!({"query": "x", "filters": filters});
        let found = call(&gateway, "POST /mem0/v3/memories/search", body.clone()).await;
        let found: Vec<&str> = memories(&found).iter().filter_map(|it| it.rsplit(' ').next()).collect();
        assert_eq!(found, expected, "search {filters}");
        let listed = call(&gateway, "POST /mem0/v3/memories/", body).await;
        assert_eq!(listed["count"], expected.len(), "list {filters}");
    }
    let mut deep = json!({"user_id": "ann"});
    for _ in 0..51 {
        deep = json!({"AND": [deep]});
    }
    let many: Vec<Value> = (0..1_001).map(|it| json!(it.to_string())).collect();
    for (filters, expected) in [
        (deep, "400 filters: are nested deeper"),
        (json!({"user_id": {"in": many}}), "400 filters: have more than 1000"),
        (json!({"city": "Oslo"}), "400 filters: name no user"),
        (json!([]), "400 filters: is not an object"),
    ] {
        let body = json!({"query": "x", "filters": filters}).to_string();
        let refused = error(&gateway.send("POST /mem0/v3/memories/search/", &body).await);
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[tokio::test]
async fn a_memory_keeps_its_id_through_updates_and_is_erased_with_its_history() {
    let gateway = start(ENABLED).await;
    let id = add(&gateway, "I live in Oslo.", "ann").await;
    let path = format!("/mem0/v1/memories/{id}/");
    let text = json!({"text": "I live in Bergen.", "metadata": {"sure": true}});
    let updated = call(&gateway, &format!("PUT {path}"), text.clone()).await;
    assert_eq!(updated["id"], id);
    assert!(updated["memory"].as_str().unwrap().ends_with("Bergen."), "{updated}");
    call(&gateway, &format!("PUT {path}"), text).await;
    let history = call(&gateway, &format!("GET {path}history/"), Value::Null).await;
    let events: Vec<&Value> = history.as_array().unwrap().iter().map(|it| &it["event"]).collect();
    assert_eq!(events, ["ADD", "UPDATE"], "the same text changes nothing");
    let all = call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await;
    assert_eq!((&all["count"], &all["results"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(all["results"][0]["metadata"], json!({"sure": "true"}));

    call(
        &gateway,
        &format!("PUT {path}"),
        json!({"expiration_date": "2020-01-01"}),
    )
    .await;
    let list = "GET /mem0/memories?user_id=ann";
    assert_eq!(call(&gateway, list, Value::Null).await["count"], 0);
    assert_eq!(
        call(&gateway, &format!("{list}&show_expired=true"), Value::Null).await["count"],
        1
    );

    call(&gateway, &format!("DELETE {path}"), Value::Null).await;
    for gone in [
        format!("GET {path}"),
        format!("GET {path}history/"),
        format!("DELETE {path}"),
    ] {
        assert_eq!(
            error(&gateway.send(&gone, "").await),
            "404 there is no memory with this id"
        );
    }
    let records = gateway.send("GET /v1/spaces/mem0-ann/records", "").await.json();
    assert_eq!(records["items"], json!([]));
}

#[tokio::test]
async fn batches_and_filters_change_many_memories() {
    let gateway = start(ENABLED).await;
    let ids = [
        add(&gateway, "One.", "ann").await,
        add(&gateway, "Two.", "ann").await,
        add(&gateway, "Three.", "bob").await,
    ];
    let change = |it: &String| json!({"memory_id": it, "text": "Other."});
    let all: Vec<Value> = ids.iter().map(change).collect();
    call(&gateway, "PUT /mem0/v1/batch/", json!({"memories": all})).await;
    let found = call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await;
    assert!(memories(&found).iter().all(|it| it.ends_with("Other.")), "{found}");
    call(
        &gateway,
        "DELETE /mem0/v1/batch/",
        json!({"memories": [{"memory_id": ids[2]}]}),
    )
    .await;
    assert_eq!(
        call(&gateway, "GET /mem0/memories?user_id=bob", Value::Null).await["count"],
        0
    );

    let body = json!({"messages": "Kept.", "user_id": "ann", "metadata": {"keep": "yes"}});
    call(&gateway, "POST /mem0/memories", body).await;
    let call_of = r#"DELETE /mem0/v1/memories?user_id=ann&metadata={"keep":"yes"}"#.replace('"', "%22");
    assert_eq!(
        call(&gateway, &call_of.replace('{', "%7B").replace('}', "%7D"), Value::Null).await["deleted"],
        1
    );
    assert_eq!(
        call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await["count"],
        2
    );
    let deleted = call(&gateway, "DELETE /mem0/v1/memories/?user_id=ann", Value::Null).await;
    assert_eq!(deleted["more"], false);
    assert_eq!(
        call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await["count"],
        0
    );
    let refused = error(&gateway.send("DELETE /mem0/v1/memories/", "").await);
    assert!(refused.starts_with("400 filters: name no user"), "{refused}");
}

#[tokio::test]
async fn users_agents_apps_and_runs_are_listed_as_entities() {
    let gateway = start(ENABLED).await;
    add(&gateway, "Hi.", "ann").await;
    add(&gateway, "Hi.", "Bob Smith").await;
    call(
        &gateway,
        "POST /mem0/memories",
        json!({"messages": "Hi.", "agent_id": "bot"}),
    )
    .await;
    let all = call(&gateway, "GET /mem0/v1/entities/", Value::Null).await;
    let mut named: Vec<String> = Vec::new();
    for it in all["results"].as_array().unwrap() {
        named.push(format!(
            "{} {}",
            it["type"].as_str().unwrap(),
            it["name"].as_str().unwrap()
        ));
    }
    named.sort();
    assert_eq!(named, ["agent bot", "user Bob Smith", "user ann"]);
    assert_eq!([&all["total_users"], &all["total_agents"]], [&json!(2), &json!(1)]);
    call(&gateway, "DELETE /mem0/v2/entities/user/Bob%20Smith/", Value::Null).await;
    assert_eq!(
        call(&gateway, "GET /mem0/v1/entities/", Value::Null).await["total_users"],
        1
    );
    let gone = gateway.send("DELETE /mem0/v2/entities/user/Bob%20Smith/", "").await;
    assert_eq!(gone.status, StatusCode::NOT_FOUND);
    call(&gateway, "POST /mem0/reset", Value::Null).await;
    assert_eq!(call(&gateway, "GET /mem0/v1/entities/", Value::Null).await["count"], 0);
    assert_eq!(
        gateway.send("GET /v1/spaces/s", "").await.status,
        StatusCode::OK,
        "others stay"
    );
}

#[tokio::test]
async fn unsupported_requests_name_an_alternative() {
    let gateway = start(ENABLED).await;
    let id = add(&gateway, "Hi.", "ann").await;
    for path in [
        "DELETE /mem0/api/v1/orgs/organizations/mnemic/projects/mnemic/",
        "GET /mem0/api/v1/orgs/organizations/mnemic/projects/mnemic/members/",
        "POST /mem0/configure",
        "GET /mem0/v1/events/",
    ] {
        let refused = error(&gateway.send(path, "").await);
        let says_what_to_use = refused.contains("; use ") || refused.contains(": use ");
        assert!(refused.starts_with("501 ") && says_what_to_use, "{path}: {refused}");
    }
    let path = "POST /mem0/v1/feedback/";
    let praise = json!({"memory_id": id, "feedback": "POSITIVE", "feedback_reason": "true"});
    assert_eq!(call(&gateway, path, praise).await["feedback"], "POSITIVE");
    let blame = json!({"memory_id": id, "feedback": "NEGATIVE"}).to_string();
    assert!(error(&gateway.send(path, &blame).await).starts_with("501 "));
    assert_eq!(
        call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await["count"],
        1
    );
}
