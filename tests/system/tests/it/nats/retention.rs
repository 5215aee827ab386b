//! The moment at which a stream begins to keep only unsettled messages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use adapters::servers::nats::provision_streams;
use domain::port::Bus;
use serde_json::{Value, json};
use system::servers::nats::Nats;

use super::{connect_bus, drain_deliveries, options_of_server, sample_frame, shared_server};

/// Subject on which the server reports changes of streams and consumers.
const REPORTS: &str = "$JS.EVENT.ADVISORY.";

/// A connection that speaks the NATS protocol directly, so that the tests see the server's reports about streams and
/// consumers.
struct Plain {
    reader: BufReader<TcpStream>,
    /// Reports of the server so far, in short form.
    reports: Vec<String>,
    /// Subject of the answers. Each test has its own, because the tests share a server.
    inbox: String,
}

impl Plain {
    fn connect(server: &Nats, prefix: &str) -> Plain {
        let address = server.url().replace("nats://", "");
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut plain = Plain {
            reader: BufReader::new(stream),
            reports: Vec::new(),
            inbox: format!("{prefix}-answers"),
        };
        let hello = format!("CONNECT {{\"verbose\":false}}\r\nSUB {} 1\r\n", plain.inbox);
        plain.send(&hello);
        plain
    }

    fn send(&mut self, lines: &str) {
        self.reader.get_mut().write_all(lines.as_bytes()).unwrap();
    }

    /// Returns subject and payload of the next message.
    fn next(&mut self) -> Message {
        loop {
            let mut line = String::new();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "the server is gone");
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.first() {
                Some(&"PING") => self.send("PONG\r\n"),
                Some(&"MSG") => {
                    let size: usize = words.last().unwrap().parse().unwrap();
                    let mut payload = vec![0; size + 2];
                    self.reader.read_exact(&mut payload).unwrap();
                    return Message {
                        subject: words[1].to_owned(),
                        payload: serde_json::from_slice(&payload[..size]).unwrap(),
                    };
                }
                _ => (),
            }
        }
    }

    /// Sends a request to JetStream and returns the answer. Reports that arrive earlier are stored.
    fn ask(&mut self, subject: &str, body: &Value) -> Value {
        let body = body.to_string();
        let question = format!("PUB $JS.API.{subject} {} {}\r\n{body}\r\n", self.inbox, body.len());
        self.send(&question);
        loop {
            let message = self.next();
            if message.subject == self.inbox {
                assert!(message.payload.get("error").is_none(), "{subject}: {}", message.payload);
                return message.payload;
            }
            self.reports.push(message.subject.replace(REPORTS, ""));
        }
    }

    /// Subscribes to the server's reports about a stream and its consumers.
    fn watch(&mut self, stream: &str) {
        // The server ignores a subscription whose number is already used.
        for (number, kind) in (2..).zip(["STREAM.UPDATED.", "CONSUMER.CREATED.", "CONSUMER.DELETED."]) {
            let rest = if kind.starts_with("STREAM") { "" } else { ".*" };
            self.send(&format!("SUB {REPORTS}{kind}{stream}{rest} {number}\r\n"));
        }
        // Requests after this one are reported.
        self.ask(&format!("STREAM.INFO.{stream}"), &json!({}));
    }

    /// Creates a consumer and returns the reports in order, up to the report of that consumer.
    fn reports(mut self, stream: &str) -> Vec<String> {
        let config = json!({ "durable_name": "last", "ack_policy": "explicit" });
        let body = json!({ "stream_name": stream, "config": config });
        self.ask(&format!("CONSUMER.CREATE.{stream}.last"), &body);
        let last = format!("CONSUMER.CREATED.{stream}.last");
        while !self.reports.contains(&last) {
            let report = self.next().subject.replace(REPORTS, "");
            self.reports.push(report);
        }
        self.reports
    }

    fn retention(&mut self, stream: &str) -> Value {
        self.ask(&format!("STREAM.INFO.{stream}"), &json!({}))["config"]["retention"].clone()
    }
}

struct Message {
    subject: String,
    payload: Value,
}

/// A stream keeps everything until a group joins. Then its retention changes, and no consumer is deleted. While a
/// stream keeps messages by interest, nats-server 2.15.1 handles a deletion by purging the stream if a message is
/// settled meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_consumer_is_deleted_when_the_first_group_joins() {
    let Some(server) = shared_server() else { return };
    let options = options_of_server(server);
    let bus = connect_bus(&options).await;
    let stream = format!("{}-s", options.prefix);
    let mut plain = Plain::connect(server, &options.prefix);
    assert_eq!(plain.retention(&stream), "limits");
    plain.watch(&stream);

    bus.publish(sample_frame("a", "", "before")).await.unwrap();
    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    assert_eq!(plain.retention(&stream), "interest");
    bus.publish(sample_frame("a", "", "after")).await.unwrap();
    assert_eq!(drain_deliveries(&mut deliveries, 2).await.len(), 2);
    let info = plain.ask(&format!("STREAM.INFO.{stream}"), &json!({}));
    assert_eq!(info["state"]["messages"], 0, "what is settled goes: {info}");
    assert_eq!(provision_streams(&options).await.unwrap(), []);
    let reports = plain.reports(&stream);
    let count = |begin: &str| reports.iter().filter(|it| it.starts_with(begin)).count();
    assert_eq!(count("CONSUMER.DELETED."), 0, "{reports:?}");
    assert_eq!(count(&format!("CONSUMER.CREATED.{stream}.g-")), 7, "{reports:?}");
}

/// A consumer from an earlier version is deleted only while the stream keeps everything, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keeper_of_an_earlier_version_is_deleted_without_loss() {
    let Some(server) = shared_server() else { return };
    let options = options_of_server(server);
    let bus = connect_bus(&options).await;
    let stream = format!("{}-s", options.prefix);
    let mut plain = Plain::connect(server, &options.prefix);
    // Earlier versions left this state: retention by interest, and a consumer without a reader.
    let keeper = json!({ "durable_name": "keeper", "ack_policy": "explicit" });
    let keeper = json!({ "stream_name": stream, "config": keeper });
    plain.ask(&format!("CONSUMER.CREATE.{stream}.keeper"), &keeper);
    let mut config = plain.ask(&format!("STREAM.INFO.{stream}"), &json!({}))["config"].clone();
    config["retention"] = json!("interest");
    plain.ask(&format!("STREAM.UPDATE.{stream}"), &config);
    bus.publish(sample_frame("a", "", "before")).await.unwrap();
    plain.watch(&stream);

    let mut deliveries = bus.subscribe("s", "g").await.unwrap();
    assert_eq!(plain.retention(&stream), "interest");
    assert_eq!(drain_deliveries(&mut deliveries, 1).await.len(), 1);
    let reports = plain.reports(&stream);
    let (updated, deleted) = (
        format!("STREAM.UPDATED.{stream}"),
        format!("CONSUMER.DELETED.{stream}.keeper"),
    );
    let of_retention: Vec<&String> = reports
        .iter()
        .filter(|it| !it.starts_with("CONSUMER.CREATED"))
        .collect();
    assert_eq!(of_retention, [&updated, &deleted, &updated]);
}
