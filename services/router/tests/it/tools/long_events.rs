//! An event with more turns than a result shows, and one with a long record.

use domain::id::{RecordId, UnitId};
use domain::unit::{Grain, Unit};
use host::Context;
use router::{Config, Router};
use serde_json::{Value, json};

use super::call;
use crate::stores::{moment, put};
use crate::talk::{space, turn_from_line};

/// Stores turns and their event.
async fn opened(dir: &tempfile::TempDir, turns: Vec<Unit>, event: Unit) -> (Context, Router) {
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let all: Vec<Unit> = turns.into_iter().chain([event]).collect();
    put(&ctx, &all).await;
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    (ctx, router)
}

fn turn(at: usize) -> Unit {
    let (hour, minute) = (10 + at / 60, at % 60);
    turn_from_line(at, &format!("2024-03-02T{hour}:{minute:02}:00Z|Liv|This is bowl {at}."))
}

/// Returns the event of some turns, which are all of different records.
fn event_of(turns: &[Unit]) -> Unit {
    let records: Vec<RecordId> = turns.iter().flat_map(|it| it.records.clone()).collect();
    Unit {
        id: UnitId::of_event(records[0]),
        grain: Grain::Event,
        text: String::new(),
        summary: format!("Liv shows {} bowls.", turns.len()),
        records,
        ..turns[0].clone()
    }
}

#[tokio::test]
async fn the_parts_of_a_long_record_do_not_displace_the_next_record_of_its_event() {
    let dir = tempfile::tempdir().unwrap();
    let first_turns = [turn(0), turn(1)];
    let [long, short] = first_turns.each_ref().map(|it| it.id);
    let event = event_of(&first_turns);
    let part = |number: u16| Unit {
        id: UnitId::of_part(first_turns[0].records[0], number),
        text: format!("It has {number} stripes."),
        ..first_turns[0].clone()
    };
    let turns = first_turns.iter().cloned().chain((1..=20).map(part)).collect();
    let (_ctx, router) = opened(&dir, turns, event.clone()).await;
    let units = async |tool: &str, arguments: Value, field: &str| -> Vec<Value> {
        let reply: Value = serde_json::from_str(&call(&router, tool, &arguments, None).await).unwrap();
        let listed = reply["result"][field].as_array().unwrap().iter();
        listed.map(|it| it["unit"].clone()).collect()
    };
    let read_on = json!({"gist_id": event.id, "limit": 3});
    let found = units("find_gist_contexts", read_on, "gists").await;
    assert_eq!(json!(found), json!([event.id, long, short]));
    let around = json!({"unit": event.id});
    let found = units("query_event_context", around, "units").await;
    assert_eq!(found.len(), 22, "the context has all parts");
}

#[tokio::test]
async fn the_context_of_a_long_event_has_the_turns_on_both_of_its_sides() {
    let dir = tempfile::tempdir().unwrap();
    let turns: Vec<Unit> = (0..106).map(turn).collect();
    let event = event_of(&turns[3..103]);
    let (long, short) = (event.id, turns[0].id);
    let (_ctx, router) = opened(&dir, turns, event).await;
    let context = async |unit: UnitId| -> Value {
        let arguments = json!({"unit": unit, "before": 2, "after": 2});
        let reply: Value = serde_json::from_str(&call(&router, "query_event_context", &arguments, None).await).unwrap();
        reply["result"].clone()
    };
    let found = context(long).await;
    let units = found["units"].as_array().unwrap();
    let shown: Vec<&str> = units.iter().map(|it| it["external_ids"][0].as_str().unwrap()).collect();
    let expected: Vec<String> = (1..46).chain(60..105).map(|it| format!("r{it}")).collect();
    assert_eq!(shown, expected);
    assert_eq!(found["left_out"], 14);
    let places: Vec<&str> = units.iter().map(|it| it["place"].as_str().unwrap()).collect();
    assert_eq!(
        [&places[..3], &places[87..]].concat(),
        ["before", "before", "it", "it", "after", "after"]
    );
    assert_eq!(context(short).await.get("left_out"), None);
}
