//! Keys in the store of a server, managed from the command line; no file and no log contains a token.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::scripted_server::{Reply, ScriptedServer};
use crate::server::{Server, fresh_directory, mnemic};

/// The token of the key `owner` in the settings, and its SHA-256.
const OWNER: &str = "owner";
const OWNER_SHA256: &str = "4c1029697ee358715d3a14a2add817c4b01651440de808371f78165ac90dc581";

/// Starts a server with `owner` as the key in its settings and with its log in a file.
async fn started(folder: &Path, log: &Path) -> Server {
    let settings = format!(
        "[telemetry]\nlogs = \"json\"\nlevel = \"debug\"\n[[gateway.keys]]\nname = \"owner\"\nsha256 = \"{OWNER_SHA256}\"\nspaces = [\"*\"]\n\
         rights = [\"read\", \"write\", \"admin\"]\n"
    );
    std::fs::write(folder.join("mnemic.toml"), settings).unwrap();
    let log = log.to_owned();
    Server::start_with(&folder.join("data"), move |program| {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" serve 2> \"$1\"", program]).arg(log);
        command.current_dir(folder);
        command
    })
    .await
}

/// Runs `mnemic keys ARGUMENTS` with a key; returns the exit code and all output.
fn keys(server: &Server, key: &str, arguments: &[&str]) -> (i32, String) {
    let output = mnemic()
        .arg("keys")
        .args(arguments)
        .env("MNEMIC_URL", server.base.trim_end_matches("/v1"))
        .env("MNEMIC_KEY", key)
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(printed).unwrap())
}

/// Returns the token in the output of a command.
fn token(output: &str) -> String {
    let token = output.lines().next().unwrap().to_owned();
    assert!(token.starts_with("mnk_") && token.len() == 47, "{output}");
    token
}

async fn status(server: &Server, token: &str) -> u16 {
    let request = server.http.get(format!("{}/access", server.base)).bearer_auth(token);
    server.send(request).await.0
}

#[tokio::test]
async fn keys_are_made_rotated_listed_and_revoked() {
    let folder = fresh_directory("keys");
    let log = folder.join("log");
    let server = started(&folder, &log).await;
    let create = [
        "create",
        "billing",
        "--space",
        "user-*",
        "--right",
        "read",
        "--requests-per-minute",
        "600",
    ];
    let (code, output) = keys(&server, OWNER, &create);
    assert_eq!(code, 0, "{output}");
    let first = token(&output);
    assert!(
        output.contains("billing  read in user-*; made ") && output.contains("600 requests a minute"),
        "{output}"
    );
    assert_eq!(status(&server, &first).await, 200);
    let (code, output) = keys(&server, &first, &["list"]);
    assert_eq!(code, 1, "a key without the right: {output}");
    let (code, output) = keys(&server, OWNER, &create);
    assert!(code == 1 && output.contains("choose another name"), "{output}");

    let (code, output) = keys(&server, OWNER, &["rotate", "billing", "--grace-seconds", "600"]);
    assert!(
        code == 0 && output.contains("The previous token is valid until "),
        "{output}"
    );
    let second = token(&output);
    assert_eq!(
        [status(&server, &first).await, status(&server, &second).await],
        [200, 200]
    );

    let (code, output) = keys(&server, OWNER, &["list", "--json"]);
    assert_eq!(code, 0, "{output}");
    let listed: Value = serde_json::from_str(output.trim()).unwrap();
    assert_eq!(listed["name"], "billing");
    assert!(!output.contains(&first) && !output.contains(&second), "{output}");

    let (code, output) = keys(&server, OWNER, &["revoke", "billing"]);
    assert_eq!(code, 0, "{output}");
    assert_eq!(
        [status(&server, &first).await, status(&server, &second).await],
        [401, 401]
    );
    let (_, output) = keys(&server, OWNER, &["list"]);
    assert!(output.contains("revoked 20"), "{output}");
    server.kill();

    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("billing"), "the name of the key is in the log");
    for token in [&first, &second] {
        assert!(
            !logged.contains(token.as_str()) && !logged.contains(&token[4..]),
            "a token is in the log"
        );
    }
    for entry in std::fs::read_dir(folder.join("data")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for token in [&first, &second] {
            let is_there = bytes.windows(token.len()).any(|it| it == token.as_bytes());
            assert!(!is_there, "a token is in a file of the memory");
        }
    }
}

/// A server that answers 503 may have made the token before; a server that answers 429 has not.
#[test]
fn a_token_is_requested_again_only_if_the_server_has_not_made_it() {
    let requests = [
        (&["keys", "rotate", "x"][..], "POST /v1/keys/x/rotate"),
        (
            &["keys", "create", "x", "--space", "*", "--right", "read"][..],
            "POST /v1/keys",
        ),
    ];
    for (arguments, call) in requests {
        let mut statuses = ["429 Too Many Requests", "503 Service Unavailable"].into_iter();
        let server = ScriptedServer::start(move |_| {
            let status = statuses.next().unwrap_or("500 Internal Server Error");
            Reply::problem(status, "busy", &json!({}))
        });
        let output = server.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(server.calls(), [call, call], "not again after the 503");
    }
}
