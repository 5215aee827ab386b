//! Every strategy over a whole memory, in both deployment modes: the evidence fits the budget, there is a path, and
//! nothing is degraded. The catalogue of tools is tested over the same memory.

use serde_json::{Value, json};
use system::running::Running;
use system::running::api::Api;

use crate::distributed::{cited_ids, sample_talk, shared_servers};

const STRATEGIES: [&str; 6] = ["route", "explore", "reconstruct", "recollect", "navigate", "auto"];
/// Questions, each with a record that answers it.
const QUESTIONS: [(&str, &str); 3] = [
    ("When did Ines adopt the greyhound?", "1"),
    ("Who repairs the canoe, and where does the sister of Omar live?", "6"),
    ("What did Omar repair in March 2026?", "4"),
];
const TOKENS: u64 = 120;

async fn check_strategies(api: &Api) {
    let mut wrong = Vec::new();
    for strategy in STRATEGIES {
        for (question, record) in QUESTIONS {
            let body = json!({ "question": question, "strategy": strategy, "explain": 1, "budget": { "tokens": TOKENS, "ms": 20_000 } });
            let (status, body) = api.post("/spaces/talk/query", &body).await;
            assert_eq!(status, 200, "{body}");
            let walked = body["path"].as_array().is_some_and(|it| !it.is_empty());
            let inside = body["cost"]["tokens"].as_u64().is_some_and(|it| it <= TOKENS);
            let sound = body["degraded"] == json!([]) && walked == (strategy != "route");
            if !inside || !sound || !cited_ids(&body).contains(&record) {
                wrong.push(format!(
                    "{strategy}, {question}: {:?}, {}, {}",
                    cited_ids(&body),
                    body["path"],
                    body["degraded"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every tool accepts a call, and an error about unusable arguments gives the remedy.
async fn check_tools(api: &Api) {
    let (status, listed) = api.get("/tools").await;
    assert_eq!(status, 200, "{listed}");
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 16, "{names:?}");
    for name in names {
        let (status, reply) = api
            .post(&format!("/spaces/talk/tools/{name}"), &json!({ "colour": "red" }))
            .await;
        assert_eq!(
            (status, &reply["error"]["code"]),
            (200, &json!("bad_arguments")),
            "{name}: {reply}"
        );
        assert!(
            reply["error"]["message"].to_string().contains("then call again"),
            "{name}: {reply}"
        );
    }
    let (_, found) = api
        .post("/spaces/talk/tools/lexical_retrieve", &json!({ "query": "greyhound" }))
        .await;
    assert_eq!(found["result"]["gists"][0]["external_ids"], json!(["1"]), "{found}");
    let before = "/spaces/talk/tools/lexical_retrieve?as_of=2026-03-01";
    let (_, found) = api.post(before, &json!({ "query": "greyhound" })).await;
    assert_eq!(found["result"]["gists"], json!([]), "nothing was told yet: {found}");
    let (_, reply) = api.post("/spaces/talk/tools/forget_all", &Value::Null).await;
    assert_eq!(reply["error"]["code"], "unknown_tool");
}

async fn check_deployment(running: Running) {
    let api = &running.api;
    assert_eq!(api.put("/spaces/talk").await.0, 201);
    let (status, body) = api
        .post("/spaces/talk/records", &json!({ "records": sample_talk() }))
        .await;
    assert_eq!(status, 202, "{body}");
    api.wait_until_written("talk", body["watermark"].as_str().unwrap())
        .await;
    api.wait_until_settled("talk").await;
    check_strategies(api).await;
    check_tools(api).await;
    running.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_strategy_finds_the_evidence_standalone() {
    let dir = tempfile::tempdir().unwrap();
    check_deployment(Running::standalone(dir.path(), &[]).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_strategy_finds_the_evidence_distributed() {
    let Some(servers) = shared_servers().await else { return };
    check_deployment(Running::distributed(servers, &[]).await.unwrap()).await;
}
