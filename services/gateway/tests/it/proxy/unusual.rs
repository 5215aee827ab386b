//! Chats that are valid, and of which a record cannot hold everything in the usual form.

use axum::http::StatusCode;
use serde_json::json;

use super::upstream::{ScriptedReply, Upstream};
use super::{CHAT, SPACE, bare, before, header, saying, stored};

/// Longest arguments and longest name of a tool call in a record, in bytes.
const ARGUMENTS_BYTES_MAX: usize = 32 << 10;
const TOOL_NAME_BYTES_MAX: usize = 128;

#[tokio::test]
async fn arguments_that_are_too_long_or_too_deep_are_stored_as_text() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let long = json!({ "text": "x".repeat(ARGUMENTS_BYTES_MAX) }).to_string();
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let call = |arguments: &str| json!({ "type": "function", "function": { "name": "write", "arguments": arguments } });
    upstream.says(ScriptedReply::Json(
        json!({ "role": "assistant", "content": "I write.", "tool_calls": [call(&long), call(&deep)] }),
    ));
    let reply = gateway.send_with(CHAT, &saying("Write."), &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    let expected = [
        "default assistant I write.".to_owned(),
        format!("default assistant write({deep})"),
        format!("default assistant write({}) [cut]", &long[..ARGUMENTS_BYTES_MAX]),
        "default user Write.".to_owned(),
    ];
    assert_eq!(stored(&gateway, "s", 4).await, expected);
}

#[tokio::test]
async fn a_tool_call_whose_name_no_record_can_have_is_stored_with_a_cut_name() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let longest = "l".repeat(TOOL_NAME_BYTES_MAX);
    // In the second one, the longest length ends within a character.
    let (too_long, in_character) = (format!("{longest}onger"), format!("o{}", "é".repeat(80)));
    let names: [&str; 4] = [&longest, &too_long, &in_character, "read\nfile"];
    let call = |name: &str| json!({ "type": "function", "function": { "name": name, "arguments": "{}" } });
    let calls = names.map(call);
    upstream.says(ScriptedReply::Json(
        json!({ "role": "assistant", "content": "I look.", "tool_calls": calls }),
    ));
    let reply = gateway.send_with(CHAT, &saying("Look."), &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    let expected = [
        "default assistant I look.".to_owned(),
        format!("default assistant {longest}({{}})"),
        format!("default assistant {longest}({{}}) [cut]"),
        format!("default assistant o{}({{}}) [cut]", "é".repeat(63)),
        "default assistant read file({})".to_owned(),
        "default user Look.".to_owned(),
    ];
    assert_eq!(stored(&gateway, "s", 6).await, expected);
}

#[tokio::test]
async fn a_message_whose_name_no_record_can_have_is_stored_without_it() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Text("Hello."));
    let messages = json!([
        { "role": "user", "name": "a\u{7}", "content": "Hi." },
        { "role": "user", "name": "n".repeat(300), "content": "Me too." },
    ]);
    let body = json!({ "messages": messages }).to_string();
    let reply = gateway.send_with(CHAT, &body, &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    let expected = ["default assistant Hello.", "default user Hi.", "default user Me too."];
    assert_eq!(stored(&gateway, "s", 3).await, expected);
}

#[tokio::test]
async fn the_beginning_of_a_reply_does_not_hide_the_message_before_it() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Text("Sure: Oslo."));
    let messages = json!([
        { "role": "user", "content": "I moved to Oslo." },
        { "role": "assistant", "content": "Sure: " },
    ]);
    let body = json!({ "messages": messages }).to_string();
    let reply = gateway.send_with(CHAT, &body, &[SPACE]).await;
    assert_eq!(header(&reply, "x-mnemic-stored"), "user,assistant");
    assert_eq!(
        stored(&gateway, "s", 2).await,
        ["default assistant Sure: Oslo.", "default user I moved to Oslo."]
    );
}

#[tokio::test]
async fn a_chat_may_begin_with_a_byte_order_mark() {
    let upstream = Upstream::start().await;
    let gateway = bare(&upstream, "evidence_tokens = 0\nstore = false").await;
    upstream.says(ScriptedReply::Text("Hello."));
    let body = format!("\u{feff}{}", saying("Hi."));
    let reply = gateway.send_with(CHAT, &body, &[SPACE]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    assert_eq!(upstream.asked()[0].text, saying("Hi."));
}
