//! Pages of today and as of an earlier time, in both deployment modes. As of an earlier time, they still show lines that
//! were taken back or replaced later, in every dimension, but no forgotten and no erased lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::shared_servers;

/// Returns two months of conversation about homes, work and likes.
fn sample_talk() -> Value {
    let record = |id: &str, at: &str, actor: &str, text: &str| json!({ "id": id, "session": at[..10], "actor": actor, "observed_at": at, "text": text });
    json!([
        record(
            "1",
            "2026-01-05T10:00:00Z",
            "Ana",
            "I live in Oslo, right beside the harbour."
        ),
        record(
            "2",
            "2026-01-05T10:01:00Z",
            "Tom",
            "We walked through Oslo in the snow with Ana."
        ),
        record("3", "2026-01-12T10:00:00Z", "Ana", "I love pickled herring."),
        record("4", "2026-01-12T10:01:00Z", "Ana", "I work as a glassblower."),
        record(
            "5",
            "2026-02-02T10:00:00Z",
            "Tom",
            "The ferry to Oslo was late because of the ice."
        ),
        record(
            "6",
            "2026-02-02T10:01:00Z",
            "Ana",
            "The harbour was frozen and the ferry could not land."
        ),
    ])
}

async fn curate_and_wait(api: &Api, act: Value) -> String {
    let (status, curated) = api.post("/spaces/talk/curations", &json!({ "act": act })).await;
    assert_eq!(status, 202, "{curated}");
    api.wait_until_written("talk", curated["watermark"].as_str().unwrap())
        .await;
    curated["curation"]["at"].as_str().unwrap().to_owned()
}

/// Returns the lines of every page, by dimension and title.
async fn page_lines(api: &Api, as_of: &str) -> BTreeMap<String, Vec<String>> {
    let query = |sign: char| {
        if as_of.is_empty() {
            String::new()
        } else {
            format!("{sign}as_of={as_of}")
        }
    };
    let (status, heads) = api.get(&format!("/spaces/talk/pages?limit=500{}", query('&'))).await;
    assert_eq!(status, 200, "{heads}");
    let mut lines_by_page = BTreeMap::new();
    for head in heads["items"].as_array().unwrap() {
        let path = format!("/spaces/talk/pages/{}{}", head["id"].as_str().unwrap(), query('?'));
        let (status, page) = api.get(&path).await;
        assert_eq!(status, 200, "{head}: {page}");
        let sections = page["sections"].as_array().unwrap();
        assert!(sections.iter().all(|it| it.get("former").is_none()), "{page}");
        let lines = sections.iter().flat_map(|it| it["lines"].as_array().unwrap());
        let lines = lines.map(|it| it["text"].as_str().unwrap().to_owned()).collect();
        let key = format!(
            "{} {}",
            page["dimension"].as_str().unwrap(),
            page["title"].as_str().unwrap()
        );
        lines_by_page.insert(key, lines);
    }
    lines_by_page
}

async fn find_fact(api: &Api, object: &str) -> Value {
    let facts = api.list("/spaces/talk/facts").await;
    let found = facts
        .iter()
        .find(|it| it["object"].as_str().is_some_and(|it| it.contains(object)));
    found.unwrap_or_else(|| panic!("{object}: {facts:?}"))["id"].clone()
}

/// Returns the pages with a line that satisfies a condition.
fn pages_with_line(lines_by_page: &BTreeMap<String, Vec<String>>, is: impl Fn(&str) -> bool) -> Vec<&String> {
    let telling = lines_by_page.iter().filter(|it| it.1.iter().any(|line| is(line)));
    telling.map(|it| it.0).collect()
}

async fn taken_back(running: Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_talk()).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
    // An act that changes no fact returns a time of the server's own clock.
    let unit = api.list("/spaces/talk/units").await[0]["id"].clone();
    let before = curate_and_wait(api, json!({ "kind": "pin_unit", "unit": unit }))
        .await
        .replace('+', "%2B");
    let then = page_lines(api, &before).await;
    assert_eq!(then, page_lines(api, "").await);
    // The original sentences are also on the pages, with their full stop, because a correction of a fact does not
    // change records.
    for (fact, least) in [
        ("Ana lives in Oslo", 2),
        ("Ana loves pickled herring", 2),
        ("Ana works as a glassblower", 1),
    ] {
        assert!(
            pages_with_line(&then, |it| it == fact).len() >= least,
            "{fact}: {then:?}"
        );
    }
    curate_and_wait(
        api,
        json!({ "kind": "retire_fact", "fact": find_fact(api, "herring").await }),
    )
    .await;
    curate_and_wait(
        api,
        json!({ "kind": "correct_fact", "fact": find_fact(api, "Oslo").await, "object": "Bergen" }),
    )
    .await;
    let record =
        json!([{ "id": "7", "session": "late", "actor": "Ana", "text": "I work as a lighthouse keeper now." }]);
    let watermark = api.send_records("talk", &record).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
    let now = page_lines(api, "").await;
    for fact in ["Ana lives in Oslo", "Ana loves pickled herring"] {
        assert!(pages_with_line(&now, |it| it == fact).is_empty(), "{fact}: {now:?}");
    }
    assert!(
        !pages_with_line(&now, |it| it == "Ana lives in Bergen").is_empty(),
        "{now:?}"
    );
    assert_eq!(page_lines(api, &before).await, then, "as it was");
    for id in ["1", "3"] {
        let (status, erased) = api.delete(&format!("/spaces/talk/records/{id}")).await;
        assert_eq!(status, 202, "{erased}");
        api.wait_until_written("talk", erased["watermark"].as_str().unwrap())
            .await;
    }
    for as_of in ["", &before] {
        let left = page_lines(api, as_of).await;
        for words in ["herring", "lives in", "beside the harbour"] {
            assert!(
                pages_with_line(&left, |it| it.contains(words)).is_empty(),
                "{words} as of {as_of}: {left:?}"
            );
        }
    }
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retracted_facts_stay_on_earlier_versions_of_pages_standalone() {
    let dir = tempfile::tempdir().unwrap();
    taken_back(Running::standalone(dir.path(), &[]).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retracted_facts_stay_on_earlier_versions_of_pages_distributed() {
    let Some(servers) = shared_servers().await else { return };
    taken_back(Running::distributed(servers, &[]).await.unwrap()).await;
}

/// Returns statements of one person on three days.
fn sample_notes() -> Value {
    let record = |id: &str, at: &str, actor: &str, text: &str| json!({ "id": id, "session": at[..10], "actor": actor, "observed_at": at, "text": text });
    json!([
        record(
            "1",
            "2026-01-05T10:00:00Z",
            "Tilda",
            "The door code of the cellar is 4711 and the alarm code is 8150."
        ),
        record(
            "2",
            "2026-01-12T10:00:00Z",
            "Tilda",
            "The spare key of the boat hangs on hook 17 in the shed near the pier."
        ),
        record(
            "3",
            "2026-02-02T10:00:00Z",
            "Tilda",
            "The ferry to Bergen leaves pier 12 at 6 on every Sunday in winter."
        ),
    ])
}

async fn replaced_and_forgotten(running: Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let watermark = api.send_records("talk", &sample_notes()).await;
    api.wait_until_written("talk", &watermark).await;
    api.wait_until_settled("talk").await;
    let is_quoted = async |words: &str, as_of: &str| {
        let pages = page_lines(api, as_of).await;
        !pages_with_line(&pages, |it| it.contains(words)).is_empty()
    };
    for words in ["4711", "hook 17", "pier 12"] {
        assert!(is_quoted(words, "").await, "{words}");
    }
    let version = json!({ "text": "The door code of the cellar is 9023 and the alarm code is 8150.", "observed_at": "2026-03-02T10:00:00Z" });
    let path = format!("{}/spaces/talk/records/1", api.base);
    let (status, put) = api.send(api.http.put(path).json(&version)).await;
    assert_eq!(status, 202, "{put}");
    api.wait_until_written("talk", put["watermark"].as_str().unwrap()).await;
    api.wait_until_settled("talk").await;
    let before = "2026-02-20T00:00:00Z";
    for (words, now, then) in [("4711", false, true), ("9023", true, false), ("hook 17", true, true)] {
        assert_eq!(is_quoted(words, "").await, now, "{words}");
        assert_eq!(is_quoted(words, before).await, then, "{words} as of {before}");
    }
    let units = api.list("/spaces/talk/units").await;
    let key = units
        .iter()
        .find(|it| it["grain"] == "turn" && it["external_ids"] == json!(["2"]));
    let unit = key.unwrap_or_else(|| panic!("{units:?}"))["id"].clone();
    curate_and_wait(api, json!({ "kind": "forget_unit", "unit": unit })).await;
    for as_of in ["", before] {
        assert!(!is_quoted("hook 17", as_of).await, "as of {as_of}");
        assert!(is_quoted("pier 12", as_of).await, "as of {as_of}");
    }
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_quote_no_replaced_and_no_forgotten_turns_standalone() {
    let dir = tempfile::tempdir().unwrap();
    replaced_and_forgotten(Running::standalone(dir.path(), &[]).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_quote_no_replaced_and_no_forgotten_turns_distributed() {
    let Some(servers) = shared_servers().await else { return };
    replaced_and_forgotten(Running::distributed(servers, &[]).await.unwrap()).await;
}
