//! Tests which data the logs of a server contain, and which they never contain.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory};

/// Starts a server that logs to `file` as JSON.
async fn logged(folder: &Path, file: &Path, access: bool) -> Server {
    let file = file.to_owned();
    Server::start_with(&folder.join("data"), move |program| {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" serve 2> \"$1\"", program]).arg(file);
        // Variables that begin with MNEMIC_ are removed from the environment of the command.
        let settings = folder.join("mnemic.toml");
        std::fs::write(
            &settings,
            format!("[telemetry]\nlogs = \"json\"\n[gateway]\naccess_log = {access}\n"),
        )
        .unwrap();
        command.current_dir(folder);
        command
    })
    .await
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[tokio::test]
async fn each_request_is_one_line_of_the_access_log_without_text_of_callers() {
    let folder = fresh_directory("logs-access");
    let file = folder.join("log");
    let server = logged(&folder, &file, true).await;
    server.put("/spaces/secretspace").await;
    let talk = json!({"records": [{"id": "secretid", "actor": "secretactor", "session": "secretsession", "text": "secrettext"}]});
    let (_, accepted) = server.post("/spaces/secretspace/records", &talk).await;
    server
        .written("secretspace", accepted["watermark"].as_str().unwrap())
        .await;
    server
        .post("/spaces/secretspace/query", &json!({"question": "secretquestion"}))
        .await;
    server
        .post("/spaces/secretspace/recall", &json!({"message": "secretmessage"}))
        .await;
    server
        .get("/spaces/secretspace/records?limit=1&actor=secretparam")
        .await;
    server.get("/secretroute").await;
    let made_up = reqwest::Method::from_bytes(b"SECRETMETHOD").unwrap();
    let made_up = server.http.request(made_up, format!("{}/spaces", server.base));
    server.send(made_up).await;
    server.kill();

    let all = lines(&file);
    let access: Vec<&Value> = all.iter().filter(|it| it["target"] == "access").collect();
    let shown = |it: &&Value| format!("{} {} {}", it["method"], it["route"], it["status"]).replace('"', "");
    let shown: Vec<String> = access.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "PUT /v1/spaces/{space} 201",
            "POST /v1/spaces/{space}/records 202",
            "GET /v1/spaces/{space}/progress 200",
            "POST /v1/spaces/{space}/query 200",
            "POST /v1/spaces/{space}/recall 200",
            "GET /v1/spaces/{space}/records 200",
            "GET unmatched 404",
            "other /v1/spaces 405",
        ]
    );
    let first = access[0];
    assert!(
        first["ms"].is_u64() && first["bytes"].as_u64() > Some(0) && first["key"] == "",
        "{first}"
    );
    assert_eq!(first["request_id"].as_str().unwrap().len(), 32);
    let text = std::fs::read_to_string(&file).unwrap().to_lowercase();
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn the_access_log_can_be_switched_off() {
    let folder = fresh_directory("logs-off");
    let file = folder.join("log");
    let server = logged(&folder, &file, false).await;
    server.put("/spaces/ann").await;
    server.kill();
    let all = lines(&file);
    assert!(
        !all.is_empty() && all.iter().all(|it| it["target"] != "access"),
        "{all:?}"
    );
}
