use std::sync::atomic::{AtomicUsize, Ordering};

use domain::message::{PlanV1, ToolV1, ToolledV1};
use serde_json::{Value, json};

use super::{REQUESTS_MAX, about, argument, ask, focused, gathered, gave, made, path, planned, unit};
use crate::harness::Gateway;

const QUESTION: &str = "Who painted the kayak?";

async fn gateway(tool: fn(ToolV1) -> ToolledV1) -> Gateway {
    let gateway = Gateway::new().await;
    gateway.serve::<PlanV1>(|it| planned(&[&it.question], &["kayak"]));
    gateway.start_router(focused);
    gateway.serve::<ToolV1>(tool);
    gateway.start_reader();
    gateway.settled().await;
    gateway
}

fn kayak(call: ToolV1) -> ToolledV1 {
    match (call.name.as_str(), argument(&call, "tag")) {
        ("query_tag_events", "") => gave(json!({"cue": "kayak", "tags": [
            {"tag": "storage", "units": 9}, {"tag": "boat painting", "units": 3}]})),
        ("query_tag_events", "boat painting") => gave(json!({"units": [
            {"unit": unit("a"), "text": "Jonas painted the kayak green."}, {"unit": unit("b"), "text": "It rained."}]})),
        _ => gave(json!({"units": [{"unit": unit("z"), "text": "Who painted the kayak in the shed?"}]})),
    }
}

#[tokio::test]
async fn it_reads_the_tags_that_promise_something_and_stops_when_every_word_is_met() {
    let gateway = gateway(kayak).await;
    let body = ask(&gateway, "reconstruct", QUESTION).await;
    assert_eq!(path(&body), ["cues", "tags", "contents", "stop"], "{body}");
    assert_eq!(about(&body, "contents"), "kayak - boat painting");
    assert_eq!(about(&body, "stop"), "every word of the question was met");
    assert_eq!(gathered(&body), [unit("a")]);
    assert_eq!(body["degraded"], json!([]));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Every cue has tags, every tag a unit of its own, every unit new cues.
fn endless(call: ToolV1) -> ToolledV1 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let (cue, tag) = (argument(&call, "cue"), argument(&call, "tag"));
    match call.name.as_str() {
        "query_tag_events" if tag.is_empty() => {
            let tags = (0..20).map(|it| json!({"tag": format!("tag {it}"), "units": 1}));
            gave(json!({"tags": tags.collect::<Vec<Value>>()}))
        }
        "query_tag_events" => {
            gave(json!({"units": [{"unit": unit(&format!("{cue}/{tag}")), "text": "about the kayak"}]}))
        }
        _ => {
            let cues = (0..5).map(|it| json!({"cue": format!("{} {it}", argument(&call, "unit")), "units": 4}));
            gave(json!({"cues": cues.collect::<Vec<Value>>()}))
        }
    }
}

#[tokio::test]
async fn without_an_end_it_takes_eight_turns() {
    let gateway = gateway(endless).await;
    let body = ask(&gateway, "reconstruct", QUESTION).await;
    let turns = ["tags", "contents", "keywords"].map(|it| made(&body, &format!("reconstruct.{it}")));
    assert_eq!(turns, [3, 3, 2], "{body}");
    // One cue, then six (two of each of three units); ten tags of each turn; three units.
    let calls = CALLS.load(Ordering::Relaxed);
    assert_eq!(calls, 1 + 6 + 6 + 3 * 10 + 2 * 3);
    assert!(calls <= REQUESTS_MAX, "{calls}");
    assert_eq!(gathered(&body).len(), 24);
    assert_eq!(body["degraded"], json!([]));
}

/// Somebody named in the question is asked for what the question is about.
fn person(call: ToolV1) -> ToolledV1 {
    match call.name.as_str() {
        "query_personal_information" => gave(json!({"person": "Ann", "aspects": [
            {"aspect": "plan", "facts": 2}, {"aspect": "work", "facts": 1}, {"aspect": "instruction", "facts": 1}]})),
        "query_personal_aspect" if argument(&call, "aspect") == "work" => gave(json!({"facts": [
            {"fact": "x", "text": "Ann works as painter of each kayak", "unit": unit("w")}]})),
        "query_personal_aspect" if argument(&call, "aspect") == "instruction" => gave(json!({"facts": [
            {"fact": "y", "text": "Ann wants short letters", "unit": unit("i")}]})),
        _ => gave(json!({"tags": []})),
    }
}

#[tokio::test]
async fn a_person_is_asked_for_the_aspect_of_the_question() {
    let gateway = gateway(person).await;
    gateway.settled().await;
    let body = ask(&gateway, "reconstruct", "What is the job of the kayak painter?").await;
    assert_eq!(path(&body), ["cues", "tags"], "no person is among the cues: {body}");
    let named = Gateway::new().await;
    named.serve::<PlanV1>(|it| planned(&[&it.question], &["Ann", "job"]));
    named.start_router(focused);
    named.serve::<ToolV1>(person);
    named.start_reader();
    named.settled().await;
    let body = ask(&named, "reconstruct", "What is the job of Ann?").await;
    assert_eq!(about(&body, "contents"), "Ann - work");
    assert_eq!(gathered(&body), [unit("w")]);
    let body = ask(&named, "reconstruct", "How long should letters to Ann be?").await;
    assert_eq!(about(&body, "contents"), "Ann - instruction");
    assert_eq!(gathered(&body), [unit("i")]);
}
