//! An agent that starts `mnemic mcp` and uses it over standard input and output.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

use fixtures::wait_for;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::server::{Server, fresh_directory, mnemic};

/// Maximum number of tokens of the list of tools, which a client adds to every conversation.
const TOOL_LIST_TOKENS_MAX: usize = 2_500;

struct Agent {
    child: Child,
    ears: Lines<BufReader<ChildStdout>>,
    mouth: ChildStdin,
}

impl Agent {
    /// Starts the command and performs the handshake.
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
        let response = agent.request("initialize", hello);
        assert_eq!(response["result"]["serverInfo"]["name"], "mnemic", "{response}");
        assert!(
            response["result"]["instructions"]
                .as_str()
                .unwrap()
                .contains("long-term memory"),
            "{response}"
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

    /// Calls a tool and returns its texts; the first text of an error has the prefix "!".
    fn call(&mut self, tool: &str, arguments: Value) -> String {
        let response = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let blocks = response["result"]["content"]
            .as_array()
            .unwrap_or_else(|| panic!("{response}"));
        let texts: Vec<&str> = blocks.iter().map(|it| it["text"].as_str().unwrap()).collect();
        let mark = if response["result"]["isError"] == true { "!" } else { "" };
        format!("{mark}{}", texts.join("\n"))
    }

    /// Reads a resource.
    fn read(&mut self, uri: &str) -> Value {
        let response = self.request("resources/read", json!({"uri": uri}));
        let text = response["result"]["contents"][0]["text"].as_str();
        serde_json::from_str(text.unwrap_or_else(|| panic!("{response}"))).unwrap()
    }

    /// Returns the names of the tools and the text of the recall protocol.
    fn tools_and_protocol(&mut self) -> (Vec<String>, String) {
        let tools = self.request("tools/list", json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap().clone();
        let prompts = self.request("prompts/list", json!({}));
        assert_eq!(prompts["result"]["prompts"][0]["name"], "recall_protocol", "{prompts}");
        let got = self.request("prompts/get", json!({"name": "recall_protocol"}));
        let text = got["result"]["messages"][0]["content"]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{got}")).to_owned();
        let unknown = self.request("prompts/get", json!({"name": "protocol"}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        let names = tools.iter().map(|it| it["name"].as_str().unwrap().to_owned());
        (names.collect(), text)
    }

    /// Closes the input, as an agent does at its end, and returns the output of the command.
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
    let tokens = text::count_tokens(&tools["result"]["tools"].to_string());
    assert!(tokens <= TOOL_LIST_TOKENS_MAX, "the list of tools has {tokens} tokens");
    let records = json!({"records": [
        {"actor": "Ann", "text": "I moved to Oslo on Saturday.", "observed_at": "2026-03-02T18:00:00Z"},
        {"actor": "Ben", "text": "I stay in Malmö, with the cat.", "observed_at": "2026-03-02T18:01:00Z"},
    ]});
    let kept = agent.call("remember", records);
    assert_eq!(kept, "2 stored, 0 already known, 0 rejected; searchable now.");
    let reply = agent.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(
        reply.starts_with("Answer: \"Oslo\" (") && reply.contains("\nAnn: I moved to Oslo"),
        "{reply}"
    );
    let reply = agent.call("ask", json!({"question": "What is Ben's dog called?"}));
    assert!(reply.starts_with("No answer.\nVerdict: insufficient: "), "{reply}");
    let reply = agent.call("recall", json!({"message": "What a nice day."}));
    assert!(reply.starts_with("Nothing worth saying: "), "{reply}");
    let reply = agent.call("list_dimensions", json!({}));
    assert!(reply.starts_with(r#"{"dimensions":["#), "{reply}");
    let oslo = |it: &Value| it["subject"] == "Ann" && it["object"] == "Oslo";
    // Facts are derived after the records are searchable.
    wait_for("there is a fact about Oslo", async || {
        let facts = agent.read("mnemic://ann/facts");
        let is_there = facts["items"].as_array().unwrap().iter().any(oslo);
        if is_there { Ok(()) } else { Err(facts) }
    })
    .await;
    let reply = agent.call("browse_dimension", json!({}));
    assert!(reply.starts_with('!') && reply.contains("dimension"), "{reply}");
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
    let listed = again.request("resources/list", json!({}));
    assert_eq!(
        listed["result"]["resources"][0]["uri"], "mnemic://ann/facts",
        "{listed}"
    );
    let reply = again.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(reply.starts_with("Answer: \"Oslo\" ("), "{reply}");
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
async fn the_recall_protocol_names_only_existing_tools() {
    let server = Server::start(&fresh_directory("mcp-prompt")).await;
    let dir = fresh_directory("mcp-prompt-alone");
    let alone = ["mcp", "--space", "ann", "--data", dir.to_str().unwrap()];
    let mut texts = Vec::new();
    for mut agent in [Agent::start(&server, "ann"), Agent::with(&alone)] {
        let (tools, text) = agent.tools_and_protocol();
        let named: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
        assert_eq!(named.len(), 9, "{named:?}");
        for name in named {
            assert!(tools.iter().any(|it| it == name), "{name}: {tools:?}");
        }
        texts.push(text);
        assert!(agent.leave().status.success());
    }
    assert_eq!(texts[0], texts[1]);
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|it| format!("{it:02x}")).collect()
}

/// Returns the TCP ports on which a process listens.
fn listening(process: u32) -> Vec<String> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .filter_map(|it| std::fs::read_link(it.unwrap().path()).ok())
        .filter_map(|it| Some(it.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let tables =
        ["tcp", "tcp6"].map(|it| std::fs::read_to_string(format!("/proc/{process}/net/{it}")).unwrap_or_default());
    let rows = tables.iter().flat_map(|it| it.lines().skip(1));
    let rows = rows.map(|it| it.split_whitespace().collect::<Vec<_>>());
    rows.filter(|it| it[3] == "0A" && sockets.iter().any(|socket| socket == it[9]))
        .map(|it| it[1].to_owned())
        .collect()
}

#[tokio::test]
async fn without_a_server_no_port_is_opened() {
    let dir = fresh_directory("mcp-portless");
    let mut agent = Agent::with(&["mcp", "--space", "ann", "--data", dir.to_str().unwrap()]);
    let found = agent.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(found.starts_with("No answer."), "{found}");
    assert_eq!(listening(agent.child.id()), Vec::<String>::new());
    assert!(agent.leave().status.success());

    let server = Server::start(&fresh_directory("mcp-ports")).await;
    assert_eq!(listening(server.process()).len(), 2, "the control sees ports");
}

#[test]
fn without_a_server_the_configured_keys_are_honoured() {
    let dir = fresh_directory("mcp-keys");
    let data = dir.join("data");
    let config = dir.join("mnemic.toml");
    let entry = |key: &str, name: &str, rights: &str| {
        let sha256 = sha256(key);
        format!("[[gateway.keys]]\nname = \"{name}\"\nsha256 = \"{sha256}\"\nspaces = [\"ann\"]\nrights = [{rights}]\n")
    };
    let keys = entry("reader-key", "reader", "\"read\"") + &entry("writer-key", "writer", "\"read\", \"write\"");
    std::fs::write(&config, keys).unwrap();
    let arguments = |space: &'static str, key: Option<&'static str>| {
        let paths = ["--data", data.to_str().unwrap(), "--config", config.to_str().unwrap()];
        let mut all = vec!["mcp", "--space", space];
        all.extend(paths);
        all.extend(key.into_iter().flat_map(|it| ["--key", it]));
        all.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (space, key, expected) in [
        ("ann", None, "--key or MNEMIC_KEY"),
        ("ann", Some("wrong"), "the key is neither in"),
        ("ann", Some("reader-key"), "may not create it"),
        ("ben", Some("writer-key"), "may not read the space `ben`"),
    ] {
        let output = mnemic()
            .args(arguments(space, key))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && complained.contains(expected),
            "{expected}: {output:?}"
        );
    }
    for (key, may_write) in [("writer-key", true), ("reader-key", false)] {
        let arguments = arguments("ann", Some(key));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut agent = Agent::with(&arguments);
        let tools = agent.request("tools/list", json!({})).to_string();
        assert_eq!(tools.contains("\"remember\""), may_write, "{key}: {tools}");
        assert!(tools.contains("\"ask\""), "{tools}");
        assert!(agent.leave().status.success());
    }
}

#[tokio::test]
async fn an_agent_gets_an_error_when_the_memory_becomes_unavailable() {
    let server = Server::start(&fresh_directory("mcp-away")).await;
    let mut agent = Agent::start(&server, "ann");
    server.kill();
    let reply = agent.call("ask", json!({"question": "Where does Ann live?"}));
    assert!(reply.starts_with("!the memory does not answer"), "{reply}");
    let reply = agent.call("remember", json!({"records": [{"text": "The kayak is red."}]}));
    assert!(
        reply.contains("this call may not have been carried out") && reply.contains("Make the call again"),
        "{reply}"
    );
    assert!(!reply.contains("Transport [") && !reply.contains("rmcp"), "{reply}");
    let ended = agent.leave();
    assert!(ended.status.success(), "{ended:?}");
}

#[tokio::test]
async fn without_a_server_the_command_says_what_to_do() {
    let output = mnemic()
        .args(["mcp", "--space", "ann", "--url", "http://127.0.0.1:1"])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr.contains("no answer from") && stderr.contains("is `mnemic serve` running there?"),
        "{stderr}"
    );
}
