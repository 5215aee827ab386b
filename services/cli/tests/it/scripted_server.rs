//! A server with scripted replies, for what a real server replies only when a part of it fails.

use std::io::{BufRead as _, BufReader, Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::server::mnemic;

/// A reply with an HTTP status and its reason, such as "404 Not Found".
pub(crate) struct Reply {
    status: &'static str,
    body: Value,
}

impl Reply {
    pub(crate) fn new(status: &'static str, body: Value) -> Reply {
        Reply { status, body }
    }

    /// Returns a problem document; `members` are further members of it.
    pub(crate) fn problem(status: &'static str, detail: &str, members: &Value) -> Reply {
        let mut body = members.clone();
        body["type"] = json!("urn:mnemic:problem:scripted");
        body["title"] = json!(status[4..]);
        body["status"] = json!(status[..3].parse::<u16>().unwrap());
        body["detail"] = json!(detail);
        Reply { status, body }
    }

    /// Returns the reply to a request for the progress of a write that is kept as a dead letter.
    pub(crate) fn failed_write() -> Reply {
        let progress = json!({ "watermark": "w", "written": false, "backlog": 0 });
        let members = json!({ "progress": progress, "dead_letter": "letter" });
        Reply::problem("504 Gateway Timeout", FAILED_WRITE, &members)
    }
}

/// The detail of [`Reply::failed_write`].
pub(crate) const FAILED_WRITE: &str = "the write failed and is kept as dead letter `letter`";

/// A server that answers one request after another until the test process ends.
pub(crate) struct ScriptedServer {
    url: String,
    calls: Arc<Mutex<Vec<String>>>,
}

impl ScriptedServer {
    /// Starts a server on a free port; `reply` answers each request, given as `METHOD path` without its parameters.
    pub(crate) fn start(mut reply: impl FnMut(&str) -> Reply + Send + 'static) -> ScriptedServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = ScriptedServer {
            url: format!("http://{}", listener.local_addr().unwrap()),
            calls: Arc::default(),
        };
        let calls = Arc::clone(&server.calls);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The client may have disconnected.
                answer(stream, &calls, &mut reply).ok();
            }
        });
        server
    }

    /// Runs a command against this server.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        mnemic().args(arguments).args(["--url", &self.url]).output().unwrap()
    }

    /// Returns the URL of the server.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns all requests so far, each as `METHOD path`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, calls: &Mutex<Vec<String>>, reply: &mut impl FnMut(&str) -> Reply) -> Result<()> {
    let call = read_request(&stream)?;
    calls.lock().unwrap().push(call.clone());
    let Reply { status, body } = reply(&call);
    let retry = if status.starts_with("503") {
        "retry-after: 1\r\n"
    } else {
        ""
    };
    let (body, kind) = (body.to_string(), "application/json");
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n{retry}connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Reads a request with its body; returns its method and path.
fn read_request(stream: &TcpStream) -> Result<String> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first)?;
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        line.clear();
    }
    reader.read_exact(&mut vec![0; length])?;
    let target = first.rsplit_once(' ').map_or("", |it| it.0);
    Ok(target.split('?').next().unwrap_or_default().to_owned())
}
