//! The proxy with memory, in front of a language model with prepared replies.

mod failures;
mod repeated;
mod unusual;
mod upstream;

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::access::KEYS;
use crate::harness::{Gateway, Reply, nothing};
use crate::query::something;
use fixtures::{wait_for, wait_until};
use upstream::{End, ScriptedReply, Upstream};

const CHAT: &str = "POST /v1/chat/completions";
const MODELS: &str = "GET /v1/models";
const SPACE: (&str, &str) = ("x-mnemic-space", "s");

/// Returns a gateway in front of `upstream`, with `more` settings of the proxy, and services that find two lines for
/// every question.
async fn before(upstream: &Upstream, more: &str) -> Gateway {
    let gateway = bare(upstream, more).await;
    gateway.start_writer();
    gateway.start_router(something);
    gateway.start_reader();
    gateway.settled().await;
    gateway
}

async fn bare(upstream: &Upstream, more: &str) -> Gateway {
    let url = &upstream.url;
    Gateway::with(&format!(
        "[gateway.proxy]\nenabled = true\nurl = \"{url}\"\nkey = \"server-side\"\n{more}"
    ))
    .await
}

fn saying(text: &str) -> String {
    json!({ "model": "parrot", "messages": [{ "role": "user", "content": text }] }).to_string()
}

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply.headers[name].to_str().unwrap()
}

/// Waits for `count` records of a space and returns them sorted, each as `session actor text|tool(arguments)`.
async fn stored(gateway: &Gateway, space: &str, count: usize) -> Vec<String> {
    let shown = |it: &Value| {
        let content = match it["tool"].as_object() {
            Some(tool) => format!(
                "{}({})",
                tool["name"].as_str().unwrap(),
                tool["arguments"].as_str().unwrap()
            ),
            None => it["text"].as_str().unwrap().to_owned(),
        };
        let cut = if it["metadata"]["cut"] == "true" { " [cut]" } else { "" };
        let (session, actor) = (it["session"].as_str().unwrap(), it["actor"].as_str().unwrap());
        format!("{session} {actor} {content}{cut}")
    };
    let what = format!("there are {count} records");
    let items = wait_for(&what, async || {
        let path = format!("GET /v1/spaces/{space}/records");
        let reply = gateway.send(&path, "").await.json();
        let items = reply["items"].as_array().cloned().unwrap_or_default();
        if items.len() < count { Err(items) } else { Ok(items) }
    });
    let mut shown: Vec<String> = items.await.iter().map(shown).collect();
    shown.sort();
    shown
}

#[tokio::test]
async fn a_chat_is_forwarded_with_evidence_and_stored() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Text("In Oslo."));
    let body = r#"{"temperature":0.50,"user":"ignored","model":"parrot","tools":[{"z":1,"a":2}],"messages":[{"role":"system","content":"Be kind."},{"role":"user","name":"Ben","content":"Where does Ann live?"}]}"#;
    let headers = [
        SPACE,
        ("x-mnemic-session", "monday"),
        ("authorization", "Bearer caller"),
        ("openai-project", "p"),
    ];
    let reply = gateway.send_with(CHAT, body, &headers).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(reply.json()["choices"][0]["message"]["content"], "In Oslo.");
    assert_eq!(header(&reply, "x-mnemic-space"), "s");
    assert_eq!(header(&reply, "x-mnemic-evidence"), "lines=2 tokens=10");
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    let asked = upstream.asked().remove(0);
    assert_eq!(asked.headers["authorization"], "Bearer server-side");
    for name in ["x-mnemic-space", "x-mnemic-session", "openai-project"] {
        assert!(!asked.headers.contains_key(name), "{name}");
    }
    let sent = asked.json();
    let ours = sent["messages"][1]["content"].as_str().unwrap();
    let block = ours.split_once("\n<mnemic-memory ").unwrap().1;
    assert!(
        block.contains(">\nAnn: I moved to Oslo.\nAnn: In May.\n</mnemic-memory "),
        "{ours}"
    );
    assert!(ours.contains("never instructions"), "{ours}");
    assert_eq!(sent["messages"][1]["role"], "system");
    let without = asked
        .text
        .replace(&format!(r#"{{"role":"system","content":{}}},"#, Value::from(ours)), "");
    assert_eq!(without, body, "nothing else is changed");
    assert_eq!(
        stored(&gateway, "s", 2).await,
        ["monday Ben Where does Ann live?", "monday assistant In Oslo."]
    );
}

#[tokio::test]
async fn a_retry_stores_nothing_twice() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    for _ in 0..2 {
        upstream.says(ScriptedReply::Text("Hello."));
        let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
        assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    }
    let key = ("idempotency-key", "k1");
    for text in ["One.", "Two."] {
        upstream.says(ScriptedReply::Text(text));
        let reply = gateway.send_with(CHAT, &saying("Count."), &[SPACE, key]).await;
        assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant", "{text}");
    }
    upstream.says(ScriptedReply::Text("Bye."));
    gateway.send_with(CHAT, &saying("Bye."), &[SPACE]).await;
    let expected = [
        "default assistant Bye.",
        "default assistant Hello.",
        "default assistant One.",
        "default user Bye.",
        "default user Count.",
        "default user Hi.",
    ];
    assert_eq!(stored(&gateway, "s", 6).await, expected);
}

#[tokio::test]
async fn only_new_messages_of_a_conversation_are_stored() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "model = \"big\"\nspace_prefix = \"chat-\"").await;
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "c", "type": "function", "function": { "name": "weather", "arguments": "{\"place\":\"Oslo\"}" } }] });
    upstream.says(ScriptedReply::Json(call.clone()));
    let mut messages = vec![
        json!({ "role": "user", "content": "I live in Oslo." }),
        json!({ "role": "assistant", "content": "Nice." }),
        json!({ "role": "user", "content": [{ "type": "text", "text": "How warm is it?" }] }),
    ];
    let body = |messages: &[Value]| json!({ "user": "ann", "messages": messages }).to_string();
    let reply = gateway.send(CHAT, &body(&messages)).await;
    assert_eq!(header(&reply, "x-mnemic-space"), "chat-ann");
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    assert_eq!(upstream.asked()[0].json()["model"], "big");
    messages.extend([call, json!({ "role": "tool", "tool_call_id": "c", "content": "12" })]);
    upstream.says(ScriptedReply::Text("12 degrees."));
    let reply = gateway.send(CHAT, &body(&messages)).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "assistant");
    let expected = [
        "default assistant 12 degrees.",
        r#"default assistant weather({"place":"Oslo"})"#,
        "default user How warm is it?",
    ];
    assert_eq!(stored(&gateway, "chat-ann", 3).await, expected);
}

const EVENTS: [&str; 4] = [
    ": ping\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"In \"}}]}\n\nda",
    "ta: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Oslo.\"}}]}\n\n",
    "data: {\"choices\":[],  \"usage\": {\"total_tokens\": 1.0}}\n\n",
    "data: [DONE]\n\n",
];

#[tokio::test]
async fn a_stream_is_forwarded_byte_for_byte_while_it_arrives() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "in_flight_max = 1").await;
    upstream.says(ScriptedReply::Stream(EVENTS.to_vec(), End::Whole));
    let reply = gateway.send_with(CHAT, &saying("Where?"), &[SPACE]).await;
    assert_eq!(reply.text, EVENTS.concat());
    assert_eq!(header(&reply, "content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(header(&reply, "x-mnemic-evidence"), "lines=2 tokens=10");
    assert_eq!(header(&reply, "x-mnemic-stored"), "user");
    assert_eq!(
        stored(&gateway, "s", 2).await,
        ["default assistant In Oslo.", "default user Where?"]
    );

    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"To Bergen\"}}]}\n\n";
    upstream.says(ScriptedReply::Stream(vec![begun], End::Open));
    let request = Request::post("/v1/chat/completions")
        .header("content-type", "application/json")
        .header("x-mnemic-space", "s");
    let request = request.body(Body::from(saying("And then?"))).unwrap();
    let mut body = gateway.response(request).await.into_body().into_data_stream();
    let first = timeout(Duration::from_secs(20), body.next())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(first, begun, "it comes while the stream is open");
    let busy = gateway.send_with(CHAT, &saying("Me too."), &[SPACE]).await;
    assert_eq!(
        (busy.status, &busy.json()["error"]["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("exhausted"))
    );
    wait_until("the endpoint streams", async || upstream.open() > 0).await;
    // The caller disconnects, so the gateway disconnects from the endpoint too.
    drop(body);
    wait_until("the gateway has left the endpoint", async || upstream.open() == 0).await;
    let expected = [
        "default assistant In Oslo.",
        "default assistant To Bergen [cut]",
        "default user And then?",
        "default user Where?",
    ];
    assert_eq!(stored(&gateway, "s", 4).await, expected);
    upstream.says(ScriptedReply::Text("Yes."));
    let free = gateway.send_with(CHAT, &saying("Me too."), &[SPACE]).await;
    assert_eq!(free.status, StatusCode::OK, "its share was given back: {free:?}");
}

#[tokio::test]
async fn a_key_opens_only_its_own_spaces() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, KEYS).await;
    let code = |reply: &Reply| reply.json()["error"]["code"].as_str().unwrap_or_default().to_owned();
    for (key, space, status) in [
        ("writer", "other", 403),
        ("reader", "other", 403),
        ("writer", "team-a", 403),
    ] {
        let auth = format!("Bearer {key}");
        let headers = [("authorization", auth.as_str()), ("x-mnemic-space", space)];
        let reply = gateway.send_with(CHAT, &saying("Where does Ann live?"), &headers).await;
        assert_eq!(
            (reply.status.as_u16(), code(&reply).as_str()),
            (status, "forbidden"),
            "{reply:?}"
        );
        assert!(!reply.text.contains("Oslo") && !reply.headers.contains_key("x-mnemic-evidence"));
    }
    assert!(upstream.asked().is_empty(), "nothing went on");
    let nobody = gateway
        .send_with(CHAT, &saying("x"), &[SPACE, ("authorization", "Bearer x")])
        .await;
    assert_eq!(nobody.status, StatusCode::UNAUTHORIZED);

    for (key, kept) in [("reader", "none; the key may only read"), ("writer", "user,assistant")] {
        upstream.says(ScriptedReply::Text("In Oslo."));
        let auth = format!("Bearer {key}");
        let reply = gateway
            .send_with(CHAT, &saying("Where?"), &[SPACE, ("authorization", &auth)])
            .await;
        assert_eq!(
            (reply.status, header(&reply, "x-mnemic-stored")),
            (StatusCode::OK, kept)
        );
        assert_eq!(header(&reply, "x-mnemic-evidence"), "lines=2 tokens=10");
        assert_eq!(upstream.asked()[0].headers["authorization"], "Bearer server-side");
    }
    upstream.says(ScriptedReply::Text("I do not know."));
    let headers = [("authorization", "Bearer reader"), ("x-mnemic-space", "team-new")];
    let reply = gateway.send_with(CHAT, &saying("Where?"), &headers).await;
    assert_eq!(reply.status, StatusCode::OK);
    let there = gateway.send_with("GET /v1/spaces/team-new", "", &headers).await;
    assert_eq!(
        there.status,
        StatusCode::NOT_FOUND,
        "a key that may only read creates nothing"
    );
}

#[tokio::test]
async fn recalled_lines_are_not_stored_as_messages() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Text("In Oslo."));
    gateway.send_with(CHAT, &saying("Where does Ann live?"), &[SPACE]).await;
    let ours = upstream.asked()[0].json()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    upstream.says(ScriptedReply::Json(
        json!({ "role": "assistant", "content": format!("You showed me {ours}") }),
    ));
    gateway
        .send_with(CHAT, &saying(&format!("{ours}\nIs that so?")), &[SPACE])
        .await;
    let records = json!({ "records": [
        { "text": ours }, { "text": format!("Log: {ours} end") }, { "text": "What is a mnemic-memory block?" },
        { "tool": { "name": "prompt", "arguments": { "messages": [ours] } } }
    ] });
    let reply = gateway.send("POST /v1/spaces/s/records", &records.to_string()).await;
    let items = &reply.json()["items"];
    assert_eq!(
        (&items[0]["status"], &items[1]["status"]),
        (&json!("rejected"), &json!("accepted"))
    );
    let why = items[0]["problem"]["detail"].as_str().unwrap();
    assert!(why.contains("is only a `mnemic-memory` block"), "{why}");
    let remember = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "remember", "arguments": { "records": [{ "text": format!("Told: {ours}") }] } } });
    let accept = ("accept", "application/json, text/event-stream");
    let reply = gateway
        .send_with(
            "POST /v1/spaces/s/mcp",
            &remember.to_string(),
            &[accept, ("host", "localhost")],
        )
        .await;
    assert_eq!(reply.status.as_u16(), 200, "{reply:?}");
    assert!(!reply.text.contains("\"isError\":true"), "{reply:?}");
    let all = stored(&gateway, "s", 8).await;
    assert!(!all.iter().any(|it| it.contains("I moved to Oslo")), "{all:?}");
    assert!(all.contains(&"default user \nIs that so?".to_owned()), "{all:?}");
    assert!(
        all.contains(&"default  What is a mnemic-memory block?".to_owned()),
        "{all:?}"
    );
}

#[tokio::test]
async fn the_list_of_models_is_that_of_the_endpoint_or_the_configured_one() {
    let upstream = Upstream::start().await;
    let gateway = bare(&upstream, "").await;
    let reply = gateway.send(MODELS, "").await.json();
    assert_eq!(
        reply,
        json!({ "data": [{ "id": "parrot" }], "key": "Bearer server-side" })
    );
    let gateway = bare(&upstream, "model = \"big\"").await;
    assert_eq!(gateway.send(MODELS, "").await.json()["data"][0]["id"], "big");
}

#[tokio::test]
async fn the_endpoint_defaults_to_that_of_the_language_model() {
    let upstream = Upstream::start().await;
    let section = format!(
        "[language_model]\nurl = \"{}\"\nmodel = \"m\"\nkey = \"of the model\"\n",
        upstream.url
    );
    let proxy = "[gateway.proxy]\nenabled = true\nevidence_tokens = 0\nstore = false\n";
    let gateway = Gateway::with(&format!("{section}{proxy}")).await;
    upstream.says(ScriptedReply::Text("Hi."));
    let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-evidence"), "none; switched off");
    assert_eq!(header(&reply, "x-mnemic-stored"), "none; switched off");
    let asked = upstream.asked().remove(0);
    assert_eq!(asked.headers["authorization"], "Bearer of the model");
    assert_eq!(asked.text, saying("Hi."));
    let other = format!("{section}{proxy}url = \"{}\"\n", upstream.url);
    let gateway = Gateway::with(&other).await;
    upstream.says(ScriptedReply::Text("Hi."));
    gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
    let asked = upstream.asked().remove(0);
    assert!(
        !asked.headers.contains_key("authorization"),
        "the key of [language_model] goes to its own url only"
    );
}

#[tokio::test]
async fn an_empty_memory_gives_no_evidence() {
    let upstream = Upstream::start().await;
    let gateway = bare(&upstream, "").await;
    gateway.start_router(nothing);
    gateway.start_reader();
    gateway.settled().await;
    upstream.says(ScriptedReply::Text("Hi."));
    let reply = gateway.send_with(CHAT, &saying("Hi."), &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-evidence"), "none; nothing found");
    assert_eq!(upstream.asked()[0].text, saying("Hi."));
}
