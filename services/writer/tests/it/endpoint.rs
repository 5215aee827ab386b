//! An endpoint that speaks as much of OpenAI's chat completions API as the writer asks for.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// An endpoint of a language model that says what it was told to; gone with the process.
#[derive(Clone)]
pub(crate) struct Endpoint {
    port: u16,
    /// What it answers where it has no reply left.
    refusal: &'static str,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    requests: Vec<Value>,
    replies: VecDeque<String>,
}

impl Endpoint {
    /// Starts one that answers 500 behind its replies.
    pub(crate) fn start(replies: &[&str]) -> Endpoint {
        Endpoint::refusing("500 No", replies)
    }

    /// Starts one that answers with that status behind its replies.
    pub(crate) fn refusing(refusal: &'static str, replies: &[&str]) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Heard {
            requests: Vec::new(),
            replies: replies.iter().map(|it| (*it).to_owned()).collect(),
        }));
        let endpoint = Endpoint { port, refusal, heard };
        let own = endpoint.clone();
        thread::spawn(move || listener.incoming().flatten().for_each(|it| own.answer(it)));
        endpoint
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap_or_default() > 2 {
            let field = line.to_lowercase();
            if let Some(value) = field.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let mut heard = self.heard.lock().unwrap();
        heard.requests.push(serde_json::from_slice(&body).unwrap());
        let reply = match heard.replies.pop_front() {
            Some(text) => {
                json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }] }).to_string()
            }
            None => String::new(),
        };
        let status = if reply.is_empty() { self.refusal } else { "200 OK" };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            reply.len()
        );
        stream.write_all(format!("{head}{reply}").as_bytes()).ok();
    }

    /// What it was asked, one after another.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.heard.lock().unwrap().requests.clone()
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Settings of a writer that asks it, in which a session is over at once.
    pub(crate) fn settings(&self) -> String {
        format!(
            "[language_model]\nurl = \"{}\"\nmodel = \"parrot\"\n\
             [writer.readings]\nquiet_minutes = 0\ndelay_seconds = 0\n[writer.pictures]\nenabled = true\n",
            self.url()
        )
    }
}
