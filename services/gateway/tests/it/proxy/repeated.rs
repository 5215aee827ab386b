//! Chats of one session in which the same words occur again.

use serde_json::{Value, json};

use super::upstream::{ScriptedReply, Upstream};
use super::{CHAT, SPACE, before, header, saying, stored};
use crate::harness::Gateway;

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// Sends a chat, and checks that its last message and the reply are reported as stored.
async fn chat(gateway: &Gateway, upstream: &Upstream, messages: &[Value], reply: &'static str) {
    upstream.says(ScriptedReply::Text(reply));
    let body = json!({ "model": "parrot", "messages": messages }).to_string();
    let response = gateway.send_with(CHAT, &body, &[SPACE]).await;
    assert_eq!(header(&response, "x-mnemic-stored"), "user,assistant", "{messages:?}");
}

#[tokio::test]
async fn the_same_reply_to_another_question_is_stored() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    for question in ["Should I call Ben?", "Should I bake a cake?"] {
        chat(&gateway, &upstream, &[user(question)], "Yes.").await;
    }
    let expected = [
        "default assistant Yes.",
        "default assistant Yes.",
        "default user Should I bake a cake?",
        "default user Should I call Ben?",
    ];
    assert_eq!(stored(&gateway, "s", 4).await, expected);
}

#[tokio::test]
async fn the_same_words_at_the_same_place_of_another_conversation_are_stored() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let first = [user("Is it late?"), assistant("Yes."), user("Should I go?")];
    let second = [user("Is it early?"), assistant("No."), user("Should I go?")];
    for messages in [&first, &second, &first] {
        chat(&gateway, &upstream, messages, "Go.").await;
    }
    // A message of the system, which may hold a clock, does not make it another conversation.
    let mut with_clock = vec![json!({ "role": "system", "content": "It is 9:00." })];
    with_clock.extend(first);
    chat(&gateway, &upstream, &with_clock, "Go.").await;
    chat(&gateway, &upstream, &[user("That is all.")], "Bye.").await;
    let expected = [
        "default assistant Bye.",
        "default assistant Go.",
        "default assistant Go.",
        "default user Should I go?",
        "default user Should I go?",
        "default user That is all.",
    ];
    assert_eq!(stored(&gateway, "s", 6).await, expected);
}

#[tokio::test]
async fn a_client_that_sends_its_last_messages_loses_none() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    let mut history: Vec<Value> = Vec::new();
    for text in ["yes", "no", "go on", "yes", "next", "yes", "yes", "stop"] {
        history.push(user(text));
        let window = &history[history.len().saturating_sub(3)..];
        chat(&gateway, &upstream, window, "Noted.").await;
        history.push(assistant("Noted."));
    }
    let all = stored(&gateway, "s", 16).await;
    let count = |line: &str| all.iter().filter(|it| *it == line).count();
    assert_eq!(
        (count("default assistant Noted."), count("default user yes")),
        (8, 4),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_message_without_a_reply_is_stored_once_when_the_next_one_brings_it_again() {
    let upstream = Upstream::start().await;
    let gateway = before(&upstream, "").await;
    upstream.says(ScriptedReply::Status(500, "{}"));
    let failed = gateway.send_with(CHAT, &saying("Are you there?"), &[SPACE]).await;
    assert_eq!(header(&failed, "x-mnemic-stored"), "user");
    chat(&gateway, &upstream, &[user("Are you there?"), user("Hello?")], "Yes.").await;
    let expected = [
        "default assistant Yes.",
        "default user Are you there?",
        "default user Hello?",
    ];
    assert_eq!(stored(&gateway, "s", 3).await, expected);
}
