use axum::body::Body;
use axum::http::Request;
use domain::message::{ToolV1, ToolledV1};

use crate::harness::{Gateway, nothing};

const REQUESTS: u32 = 10_000;

const PATHS: [&str; 27] = [
    "POST /v1/spaces/s/records",
    "POST /v1/spaces/s/records",
    "POST /v1/spaces/s/query",
    "POST /v1/spaces/s/query",
    "POST /v1/spaces/s/tools/semantic_retrieve",
    "POST /v1/spaces/s/tools/expand_unit",
    "POST /v1/spaces/s/tools/",
    "POST /v1/spaces/s/mcp",
    "GET /v1/spaces/s/records?",
    "GET /v1/spaces/s/units?",
    "GET /v1/spaces/s/facts?",
    "GET /v1/spaces/s/progress?",
    "POST /v1/spaces/s/recall",
    "POST /v1/spaces/s/recall/dismiss",
    "POST /v1/spaces/s/curations",
    "DELETE /v1/spaces/s/records/",
    "GET /v1/spaces/s/curations/",
    "GET /v1/spaces/s/entities?",
    "GET /v1/spaces/s/topics?",
    "GET /v1/spaces/s/pages?",
    "GET /v1/spaces/s/pages/",
    "GET /v1/spaces/s/merges?",
    "GET /v1/spaces/s/curations?",
    "GET /v1/spaces?",
    "GET /v1/spaces/",
    "DELETE /v1/admin/dead-letters/",
    "GET /v1/spaces/s/records/",
];

const TEXTS: [&str; 22] = [
    "",
    " ",
    "'; DROP TABLE records; --",
    "\" OR 1=1 --",
    "MATCH (n) DETACH DELETE n //",
    "}) RETURN n UNION MATCH (m) //",
    "\\u0000",
    "\\ud800",
    "\\u001b[31m",
    "\\u202e",
    "../../etc/passwd",
    "%00",
    "2026-13-45T99:99:99Z",
    "0000-00-00",
    "1600-01-01T00:00:00Z",
    "2026-05-07T23:59:60+14:00",
    "9999-12-31T23:59:59-23:59",
    "नमस्ते 👩‍👩‍👧‍👦 مرحبا",
    "id' \u{feff}\u{200b}",
    "00000000-0000-0000-0000-000000000000",
    "ffffffffffffffffffffffffffffffff",
    "${jndi:ldap://x}",
];

const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "1",
    "3.5",
    "1e400",
    "-0",
    "18446744073709551616",
    "9223372036854775807",
    "4294967296",
    "NaN",
];

const FIELDS: [&str; 32] = [
    "records",
    "id",
    "session",
    "ordinal",
    "modality",
    "actor",
    "text",
    "image_caption",
    "image_uri",
    "tool",
    "name",
    "arguments",
    "result",
    "observed_at",
    "metadata",
    "question",
    "budget",
    "tokens",
    "ms",
    "after",
    "as_of",
    "filter",
    "explain",
    "unit",
    "message",
    "act",
    "kind",
    "object",
    "reason",
    "hints",
    "limit",
    "at",
];

/// Xorshift with a seed: every run sends the same requests.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }

    fn value(&mut self, depth: usize) -> String {
        match self.roll(if depth == 0 { 5 } else { 9 }) {
            0 => self.pick(&NUMBERS).to_owned(),
            1 => self
                .pick(&["true", "false", "null", "\"text\"", "\"action\""])
                .to_owned(),
            2..=4 => format!("\"{}\"", self.pick(&TEXTS).replace('"', "\\\"")),
            5 | 6 => {
                let items: Vec<String> = (0..self.roll(4)).map(|_| self.value(depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
            _ => self.object(depth - 1),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let fields: Vec<String> = (0..self.roll(6))
            .map(|_| format!("\"{}\":{}", self.pick(&FIELDS), self.value(depth)))
            .collect();
        format!("{{{}}}", fields.join(","))
    }

    /// Returns a body that is almost valid, or not valid at all.
    fn body(&mut self) -> Vec<u8> {
        let value = self.value(3);
        let text = match self.roll(12) {
            0..=4 => format!(r#"{{"records":[{},{{"text":{}}}]}}"#, self.object(2), self.value(0)),
            5..=7 => format!(r#"{{"question":{},"{}":{value}}}"#, self.value(0), self.pick(&FIELDS)),
            8 => value,
            9 if self.roll(2) == 0 => format!(r#"{{"message":{},"{}":{value}}}"#, self.value(0), self.pick(&FIELDS)),
            10 if self.roll(2) == 0 => format!(
                r#"{{"act":{{"kind":"{}","record":{},"curation":{value}}}}}"#,
                self.pick(&["erase_record", "undo", "retire_fact", "x"]),
                self.value(0)
            ),
            9 => {
                let depth = self.roll(400);
                format!(
                    r#"{{"records":[{{"text":"x","tool":{{"name":"x","arguments":{}{}}}}}]}}"#,
                    "[".repeat(depth),
                    "]".repeat(depth)
                )
            }
            10 => format!(r#"{{"records":[{{"text":"{}"}}]}}"#, "long ".repeat(self.roll(9_000))),
            _ => format!(r#"{{"records":[{{"id":"{}","text":"x"}}]}}"#, self.pick(&TEXTS)),
        };
        let mut bytes = text.into_bytes();
        if self.roll(6) == 0 && !bytes.is_empty() {
            let at = self.roll(bytes.len());
            bytes[at] = self.roll(256) as u8;
        }
        if self.roll(12) == 0 {
            bytes.truncate(self.roll(bytes.len() + 1));
        }
        bytes
    }

    /// Returns a message of the Model Context Protocol that contains such a body.
    fn message(&mut self) -> Vec<u8> {
        let head = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"name":"{}","arguments":"#,
            self.value(0),
            self.pick(&["tools/call", "tools/call", "tools/list", "initialize", "x"]),
            self.pick(&["remember", "ask", "recall", "curate", "expand_unit", "x"]),
        );
        [head.as_bytes(), &self.body(), b"}}"].concat()
    }

    fn request(&mut self) -> Option<Request<Body>> {
        let call = self.pick(&PATHS);
        let (method, path) = call.split_once(' ')?;
        let tail = match path.chars().last() {
            Some('?') => format!(
                "{}={}",
                self.pick(&[
                    "after",
                    "limit",
                    "watermark",
                    "wait_ms",
                    "as_of",
                    "name",
                    "subject",
                    "x"
                ]),
                escape(self.pick(&TEXTS))
            ),
            Some('/') => escape(self.pick(&TEXTS)),
            _ => String::new(),
        };
        let kind = self.pick(&[
            "application/json",
            "application/json",
            "application/json; charset=utf-8",
            "text/html",
        ]);
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{path}{tail}"))
            .header("content-type", kind);
        if self.roll(8) == 0 {
            request = request.header("idempotency-key", self.pick(&TEXTS).as_bytes());
        }
        if self.roll(8) == 0 {
            request = request.header("traceparent", self.pick(&TEXTS).as_bytes());
        }
        let body = match (method, path) {
            ("POST", "/v1/spaces/s/mcp") => {
                request = request
                    .header("host", "localhost")
                    .header("accept", "application/json, text/event-stream");
                self.message()
            }
            ("POST", _) => self.body(),
            _ => Vec::new(),
        };
        request.body(Body::from(body)).ok()
    }
}

fn escape(text: &str) -> String {
    text.bytes().map(|it| format!("%{it:02X}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_causes_a_panic_or_a_500() {
    let gateway = Gateway::new().await;
    gateway.start_router(nothing);
    gateway.serve::<ToolV1>(|_| ToolledV1::default());
    gateway.start_reader();
    gateway.settled().await;
    let mut dice = Dice(0x6d6e_656d_6963);
    let (mut sent, mut accepted) = (0, 0);
    while sent < REQUESTS {
        let Some(request) = dice.request() else { continue };
        let call = format!("{} {}", request.method(), request.uri());
        let reply = gateway.raw(request).await;
        sent += 1;
        assert_ne!(reply.status.as_u16(), 500, "{call}: {reply:?}");
        if reply.status.is_success() {
            accepted += 1;
        } else {
            reply.problem();
        }
    }
    assert!(
        (500..9_500).contains(&accepted),
        "{accepted} of {sent} were accepted: the requests should be mixed"
    );
}
