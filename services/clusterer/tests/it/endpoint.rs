//! A stand-in for a model endpoint, with as much of OpenAI's chat completions API as one question needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// Returns the reply to the text of a request. If it is empty, the endpoint answers 500.
pub(crate) type Reply = fn(&str) -> String;

/// The endpoint. It answers until the test process ends.
pub(crate) struct Endpoint {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    reply: Reply,
    is_away: AtomicBool,
    /// The user messages of all requests.
    shown: Mutex<Vec<String>>,
}

impl Endpoint {
    pub(crate) fn start(reply: Reply) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            reply,
            is_away: AtomicBool::new(false),
            shown: Mutex::default(),
        });
        let served = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The client may have disconnected.
                serve(stream, &served).ok();
            }
        });
        Endpoint { address, state }
    }

    /// Returns settings that use this endpoint.
    pub(crate) fn settings(&self, readings: &str) -> String {
        let address = self.address;
        format!(
            "[language_model]\nurl = \"http://{address}/v1\"\nmodel = \"parrot\"\n[clusterer.readings]\n{readings}\n"
        )
    }

    /// Makes it answer 503 from now on, or reply again.
    pub(crate) fn is_away(&self, away: bool) {
        self.state.is_away.store(away, Ordering::SeqCst);
    }

    /// Returns the user messages of all requests, in order.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.state.shown.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let shown = asked["messages"][1]["content"].as_str().unwrap_or_default();
    state.shown.lock().unwrap().push(shown.to_owned());
    let said = (state.reply)(shown);
    let (status, reply) = match state.is_away.load(Ordering::SeqCst) {
        true => ("503 Service Unavailable", String::new()),
        false if said.is_empty() => ("500 Internal Server Error", String::new()),
        false => {
            let message = json!({ "role": "assistant", "content": said });
            let reply = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 1_000, "completion_tokens": 50 } });
            ("200 OK", reply.to_string())
        }
    };
    let length = reply.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{reply}"
    )
}
