//! An event with more turns than a result shows.

use domain::id::{RecordId, UnitId};
use domain::unit::{Grain, Unit};
use host::Context;
use router::{Config, Router};
use serde_json::{Value, json};

use super::call;
use crate::stores::{moment, put};
use crate::talk::{space, turn_from_line};

#[tokio::test]
async fn the_context_of_a_long_event_has_the_turns_on_both_of_its_sides() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    ctx.backends.records.create_space(&space(), moment(0)).await.unwrap();
    let turn = |at: usize| {
        let (hour, minute) = (10 + at / 60, at % 60);
        turn_from_line(at, &format!("2024-03-02T{hour}:{minute:02}:00Z|Liv|This is bowl {at}."))
    };
    let mut all: Vec<Unit> = (0..106).map(turn).collect();
    let records: Vec<RecordId> = all[3..103].iter().flat_map(|it| it.records.clone()).collect();
    let event = Unit {
        id: UnitId::of_event(records[0]),
        grain: Grain::Event,
        text: String::new(),
        summary: "Liv shows 100 bowls.".to_owned(),
        records,
        ..all[3].clone()
    };
    let (long, short) = (event.id, all[0].id);
    all.push(event);
    put(&ctx, &all).await;
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
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
