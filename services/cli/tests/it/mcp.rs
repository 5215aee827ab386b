//! An agent that starts `mnemic mcp` and speaks to it over its standard input and output.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

use serde_json::{Value, json};

use crate::server::{Server, fresh_directory, mnemic};

struct Agent {
    child: Child,
    ears: Lines<BufReader<ChildStdout>>,
    mouth: ChildStdin,
}

impl Agent {
    /// Starts the command and shakes hands.
    fn start(server: &Server, space: &str) -> Agent {
        let url = server.base.trim_end_matches("/v1");
        Agent::with(&["mcp", "--space", space, "--url", url])
    }

    fn with(arguments: &[&str]) -> Agent {
        let mut command = mnemic();
        command.args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut agent = Agent {
            ears: BufReader::new(child.stdout.take().unwrap()).lines(),
            mouth: child.stdin.take().unwrap(),
            child,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "0"}});
        let told = agent.request("initialize", hello);
        assert_eq!(told["result"]["serverInfo"]["name"], "mnemic", "{told}");
        assert!(
            told["result"]["instructions"]
                .as_str()
                .unwrap()
                .contains("long-term memory"),
            "{told}"
        );
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        self.mouth.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let line = self.ears.next().unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Calls a tool and returns its texts, the first one of an error behind a "!".
    fn call(&mut self, tool: &str, arguments: Value) -> String {
        let told = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let blocks = told["result"]["content"].as_array().unwrap_or_else(|| panic!("{told}"));
        let texts: Vec<&str> = blocks.iter().map(|it| it["text"].as_str().unwrap()).collect();
        let mark = if told["result"]["isError"] == true { "!" } else { "" };
        format!("{mark}{}", texts.join("\n"))
    }

    /// Closes the input, as an agent does that ends, and returns how the command ended.
    fn leave(self) -> Output {
        drop(self.mouth);
        self.child.wait_with_output().unwrap()
    }
}

#[tokio::test]
async fn an_agent_remembers_and_asks() {
    let server = Server::start(&fresh_directory("mcp-agent")).await;
    let mut agent = Agent::start(&server, "ann");
    let tools = agent.request("tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        (&names[..4], names.len()),
        (&["remember", "ask", "recall", "curate"][..], 20)
    );
    let records = json!({"records": [
        {"actor": "Ann", "text": "I moved to Oslo on Saturday.", "observed_at": "2026-03-02T18:00:00Z"},
        {"actor": "Ben", "text": "I stay in Malmö, with the cat.", "observed_at": "2026-03-02T18:01:00Z"},
    ]});
    let kept = agent.call("remember", records);
    assert_eq!(kept, "2 kept, 0 known before, 0 not taken; searchable now.");
    let told = agent.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(
        told.starts_with("Answer: \"Oslo\" (") && told.contains("\nAnn: I moved to Oslo"),
        "{told}"
    );
    let told = agent.call("ask", json!({"question": "What is Ben's dog called?"}));
    assert!(told.starts_with("No answer.\nVerdict: insufficient: "), "{told}");
    let told = agent.call("recall", json!({"message": "What a nice day."}));
    assert!(told.starts_with("Nothing worth saying: "), "{told}");
    let told = agent.call("list_dimensions", json!({}));
    assert!(told.starts_with(r#"{"dimensions":["#), "{told}");
    let told = agent.call("browse_dimension", json!({}));
    assert!(told.starts_with('!') && told.contains("dimension"), "{told}");
    let ended = agent.leave();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn an_agent_needs_no_server() {
    let dir = fresh_directory("mcp-alone");
    let alone = ["mcp", "--space", "ann", "--data", dir.to_str().unwrap()];
    let mut agent = Agent::with(&alone);
    let records = json!({"records": [{"actor": "Ann", "text": "I moved to Oslo on Saturday.", "observed_at": "2026-03-02T18:00:00Z"}]});
    agent.call("remember", records);
    let second = mnemic().args(alone).stdin(Stdio::null()).output().unwrap();
    assert_eq!(second.status.code(), Some(1), "one process at a time: {second:?}");
    assert!(agent.leave().status.success());
    let mut again = Agent::with(&alone);
    let told = again.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(told.starts_with("Answer: \"Oslo\" ("), "{told}");
    assert!(again.leave().status.success());
    for (variable, value, expected) in [
        ("MNEMIC_BACKENDS__ENCODER", "nowhere", "encoder"),
        ("MNEMIC_BOGUS__X", "1", "unknown section `bogus`"),
    ] {
        let refused = mnemic()
            .args(alone)
            .env(variable, value)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complained = String::from_utf8_lossy(&refused.stderr);
        assert!(
            refused.status.code() == Some(1) && complained.contains(expected),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_memory_that_goes_away_is_told_to_the_agent() {
    let server = Server::start(&fresh_directory("mcp-away")).await;
    let mut agent = Agent::start(&server, "ann");
    server.kill();
    let told = agent.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(told.starts_with("!the memory does not answer"), "{told}");
    let ended = agent.leave();
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn without_a_server_the_command_says_what_to_do() {
    let output = mnemic()
        .args(["mcp", "--space", "ann", "--url", "http://127.0.0.1:1"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("no answer from") && said.contains("is `mnemic serve` running there?"),
        "{said}"
    );
}
