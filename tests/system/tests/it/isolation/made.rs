//! Attempts that are generated for every list, tool, act and route, with objects of alice.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{LISTS, Owned, Try};

/// Values that are no valid cursor or watermark for any key.
const FORGED: [&str; 7] = [
    "0",
    "1",
    "18446744073709551615",
    "00000000-0000-0000-0000-000000000000",
    "alice",
    "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a",
    "%C3%A9",
];

/// Curation acts that name objects of alice.
const ACTS: [&str; 9] = [
    r#"{"kind":"correct_fact","fact":"{unit}","object":"a cat"}"#,
    r#"{"kind":"retire_fact","fact":"{unit}"}"#,
    r#"{"kind":"undo_merge","merge":"{unit}"}"#,
    r#"{"kind":"undo_label","topic":"{unit}"}"#,
    r#"{"kind":"undo_summary","page":"{unit}"}"#,
    r#"{"kind":"pin_unit","unit":"{unit}"}"#,
    r#"{"kind":"forget_unit","unit":"{unit}"}"#,
    r#"{"kind":"erase_record","record":"{record}"}"#,
    r#"{"kind":"undo","curation":"{unit}"}"#,
];

/// Routes of a space that only read.
const LOOKS: [&str; 13] = [
    "",
    "/records",
    "/records/1",
    "/units",
    "/facts",
    "/entities",
    "/topics",
    "/pages",
    "/merges",
    "/curations",
    "/progress",
    "/rebuild",
    "/tools",
];

/// Returns attempts with cursors that are invented, altered, or from another space, list, key or filter.
pub(super) fn cursor_attempts(owned: &Owned) -> Vec<Try> {
    let refused = |key: &'static str, path: String| Try::get(key, path, 422).called("cursor");
    let mut all = Vec::new();
    for list in LISTS {
        let path = format!("/spaces/mallory/{list}?limit=1000&after=");
        all.extend(FORGED.map(|forged| refused("mallory", format!("{path}{forged}"))));
        all.push(refused("mallory", format!("{path}{}", owned.unit)));
        if let Some(theirs) = owned.cursors.get(list) {
            all.push(refused("mallory", format!("{path}{theirs}")));
            all.push(Try::get("mallory", format!("/spaces/alice/{list}?after={theirs}"), 404));
            all.push(Try::get(
                "alice",
                format!("/spaces/alice/{list}?after={theirs}&limit=1"),
                200,
            ));
        }
        if list != "records" {
            all.push(refused("mallory", format!("{path}{}", owned.own_cursor)));
        }
    }
    let own = &owned.own_cursor;
    all.push(Try::get("mallory", format!("/spaces/mallory/records?after={own}"), 200));
    all.push(refused(
        "mallory",
        format!("/spaces/mallory/records?after={own}&actor=Ines"),
    ));
    all.push(refused(
        "mallory",
        format!("/spaces/mallory/records?after={}", alter_seal(own)),
    ));
    all.push(refused("mallory", format!("/spaces/mallory2/records?after={own}")));
    for list in ["/spaces", "/admin/dead-letters"] {
        for forged in FORGED {
            all.push(refused("mallory", format!("{list}?after={forged}")));
        }
        all.push(refused("ali", format!("{list}?after={}", owned.own_spaces_cursor)));
        all.push(refused("mallory", format!("{list}?after={own}")));
    }
    all.push(Try::get(
        "mallory",
        format!("/spaces?after={}", owned.own_spaces_cursor),
        200,
    ));
    all
}

/// Returns attempts with watermarks that are invented in the former format, altered, or from another space.
pub(super) fn watermark_attempts(owned: &Owned) -> Vec<Try> {
    let mut given: Vec<String> = FORGED.map(str::to_owned).into();
    given.extend([0, 1, 2, 1 << 40, u64::MAX].map(as_before));
    given.push(owned.watermark.clone());
    given.push(alter_seal(&owned.own_watermark));
    given.push(owned.own_cursor.clone());
    let mut all = Vec::new();
    for watermark in given {
        for space in ["mallory", "mallory2"] {
            let path = format!("/spaces/{space}/progress?watermark={watermark}");
            all.push(Try::get("mallory", path, 422).called("watermark"));
        }
        let plain = watermark.replace("%C3%A9", "\u{e9}");
        let body = json!({ "question": "Who?", "after": plain });
        all.push(Try::post("mallory", "/spaces/mallory/query", &body, 422).called("watermark"));
        let body = json!({ "message": "Hello.", "after": plain });
        all.push(Try::post("mallory", "/spaces/mallory/recall", &body, 422).called("watermark"));
    }
    let own = &owned.own_watermark;
    all.push(Try::get(
        "mallory",
        format!("/spaces/mallory/progress?watermark={own}"),
        200,
    ));
    all.push(Try::get("mallory", format!("/spaces/mallory2/progress?watermark={own}"), 422).called("watermark"));
    all
}

/// Returns attempts with every tool, in the other space and in the own space with objects of alice, over HTTP and MCP.
pub(super) fn tool_attempts(catalogue: &Value, owned: &Owned) -> Vec<Try> {
    let mut all = Vec::new();
    for tool in catalogue["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let arguments = fill_schema(&tool["input_schema"], owned);
        let path = |space: &str| format!("/spaces/{space}/tools/{name}");
        all.push(Try::post("mallory", &path("alice"), &arguments, 404));
        all.push(Try::post("mallory", &path("mallory"), &arguments, 200));
        let call = json!({ "name": name, "arguments": arguments });
        all.push(mcp_attempt("alice", "tools/call", call.clone(), 404));
        all.push(mcp_attempt("mallory", "tools/call", call, 200));
    }
    for (name, arguments) in [
        ("ask", json!({ "question": "What did Ines adopt?" })),
        (
            "recall",
            json!({ "message": "The greyhound is ill.", "sensitive": true }),
        ),
        (
            "curate",
            json!({ "act": { "kind": "forget_unit", "unit": owned.unit } }),
        ),
        (
            "remember",
            json!({ "records": [{ "id": "1", "text": "mine now", "space": "alice" }] }),
        ),
    ] {
        let call = json!({ "name": name, "arguments": arguments });
        all.push(mcp_attempt("alice", "tools/call", call.clone(), 404));
        all.push(mcp_attempt("mallory", "tools/call", call, 200));
    }
    all.push(mcp_attempt("alice", "tools/list", json!({}), 404));
    all.push(mcp_attempt("mallory", "tools/list", json!({}), 200));
    all
}

/// Returns attempts with every act on objects of alice, by keys of other spaces and by a key that may only read.
pub(super) fn curation_attempts() -> Vec<Try> {
    let mut all = Vec::new();
    for act in ACTS {
        let body = format!(r#"{{"id":"theft","act":{act}}}"#);
        for (key, space, due) in [
            ("mallory", "alice", 404),
            ("mallory", "mallory", 404),
            ("ali", "alice", 404),
            ("reader", "alice", 403),
        ] {
            let path = format!("/spaces/{space}/curations");
            let mut attempt = Try::of(key, "POST", &path, &body, due);
            attempt.headers.push(("Idempotency-Key", "the-key".to_owned()));
            all.push(attempt);
        }
    }
    all
}

/// Returns attempts on dead letters of alice, by number as in the former API and by the ids that her own key sees.
pub(super) fn dead_letter_attempts(owned: &Owned) -> Vec<Try> {
    let mut names: Vec<String> = (1..=4).map(|it: u32| it.to_string()).collect();
    names.push(owned.letter.clone());
    names.push(alter_seal(&owned.letter));
    let mut all = Vec::new();
    for name in names {
        let path = format!("/admin/dead-letters/{name}");
        all.push(Try::get("mallory", path.clone(), 404));
        all.push(Try::of("mallory", "DELETE", &path, "", 404));
        all.push(Try::of("mallory", "POST", &format!("{path}/replay"), "", 404));
    }
    all.push(Try::get("alice", format!("/admin/dead-letters/{}", owned.letter), 200));
    all.push(Try::get("reader", format!("/admin/dead-letters/{}", owned.letter), 403));
    all
}

/// Returns pairs of attempts, on a foreign space and on an unknown one, whose responses may differ only in the name.
pub(super) fn pairs_of_attempts() -> Vec<(Try, Try)> {
    let both = |of: &dyn Fn(&str) -> Try| (of("alice"), of("nowhere"));
    let mut all: Vec<(Try, Try)> = LOOKS
        .map(|look| both(&|space| Try::get("mallory", format!("/spaces/{space}{look}"), 404)))
        .into();
    for (method, rest, body) in [
        ("DELETE", "", ""),
        ("DELETE", "/records/1", ""),
        ("DELETE", "/sessions/2026-03-02", ""),
        ("POST", "/rebuild", ""),
        ("POST", "/records", r#"{"records":[{"id":"1","text":"x"}]}"#),
        ("POST", "/query", r#"{"question":"Who?"}"#),
        ("POST", "/recall", r#"{"message":"Hello."}"#),
        (
            "POST",
            "/recall/dismiss",
            r#"{"hints":["00000000-0000-0000-0000-000000000001"]}"#,
        ),
        ("POST", "/tools/list_dimensions", "{}"),
    ] {
        all.push(both(&|space| {
            Try::of("mallory", method, &format!("/spaces/{space}{rest}"), body, 404)
        }));
    }
    all.push(both(&|space| {
        Try::of("mallory", "PUT", &format!("/spaces/{space}"), "", 403)
    }));
    all.push(both(&|space| mcp_attempt(space, "tools/list", json!({}), 404)));
    all
}

fn mcp_attempt(space: &str, method: &str, params: Value, due: u16) -> Try {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut attempt = Try::post("mallory", &format!("/spaces/{space}/mcp"), &body, due);
    let accept = "application/json, text/event-stream".to_owned();
    attempt.headers.push(("Accept", accept));
    attempt.headers.push(("Mcp-Protocol-Version", "2025-11-25".to_owned()));
    attempt
}

/// Returns arguments that match a schema; ids are alice's, and texts are words of hers.
fn fill_schema(schema: &Value, owned: &Owned) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let value = |name: &str| {
        let about = &schema["properties"][name];
        match (about["format"].as_str(), about["enum"][0].as_str()) {
            (Some("uuid"), _) if name == "page" => json!(owned.page),
            (Some("uuid"), _) => json!(owned.unit),
            (_, Some(first)) => json!(first),
            _ => json!("Ines greyhound"),
        }
    };
    let pairs = required
        .map(|it| it.as_str().unwrap())
        .map(|name| (name.to_owned(), value(name)));
    Value::Object(pairs.collect())
}

/// Returns a watermark in the format from before watermarks were sealed, which anybody could compute.
fn as_before(position: u64) -> String {
    let digest = Sha256::new()
        .chain_update("watermark")
        .chain_update("mallory")
        .chain_update(position.to_be_bytes())
        .finalize();
    let digest: String = digest[..8].iter().map(|it| format!("{it:02x}")).collect();
    format!("{position:016x}{digest}")
}

fn alter_seal(sealed: &str) -> String {
    let (head, last) = sealed.split_at(sealed.len() - 1);
    format!("{head}{}", if last == "0" { "1" } else { "0" })
}
