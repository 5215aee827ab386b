//! Prompts for agents with their own model.

use serde_json::{Value, json};

use super::{asked, whole};
use crate::access::KEYS;

#[tokio::test]
async fn the_recall_protocol_is_a_prompt() {
    let gateway = whole(KEYS).await;
    let listed = asked(&gateway, "reader", "prompts/list", json!({})).await;
    let prompts = listed["result"]["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 1, "{listed}");
    assert_eq!(prompts[0]["name"], "recall_protocol", "{listed}");
    let get = async |params: Value| asked(&gateway, "reader", "prompts/get", params).await;
    let name = "recall_protocol";
    for params in [json!({"name": name}), json!({"name": name, "arguments": {}})] {
        let got = get(params).await;
        let message = &got["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{got}");
        let text = message["content"]["text"].as_str().unwrap();
        for part in ["When to look", "How to look", "What to say", "When to stay silent"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    for (params, what) in [
        (
            json!({"name": "protocol"}),
            "there is no such prompt; the only prompt is `recall_protocol`",
        ),
        (
            json!({"name": name, "arguments": {"user": "Ann"}}),
            "arguments: `recall_protocol` takes no arguments",
        ),
        (
            json!({"name": "recall_protocol", "arguments": []}),
            "`arguments` must be an object",
        ),
        (json!({}), "the parameters of prompts/get do not follow the protocol"),
    ] {
        let refused = get(params).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(what), "{refused}");
    }
}
