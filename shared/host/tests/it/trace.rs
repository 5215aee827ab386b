use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use domain::PortError;
use domain::message::UnitsWrittenV1;
use host::telemetry::{self, Config};
use host::{Context, Meta};
use tracing::{Instrument, info_span};

use crate::{context, message};

const CALLER: &str = "0af7651916cd43dd8448eb211c80319c";

/// Handles one message and returns the trace id that its handler saw.
async fn trace_of_handler(context: &Context) -> String {
    let (sender, receiver) = mpsc::channel();
    let handler = async |_: UnitsWrittenV1, _: Meta| {
        sender.send(telemetry::trace_id()).unwrap();
        context.shutdown.cancel();
        Ok::<(), PortError>(())
    };
    let work = context.consume_messages::<UnitsWrittenV1, PortError, _, _>("test", 1, handler);
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .unwrap()
        .unwrap();
    receiver.recv().unwrap()
}

/// Starts a collector that answers every request. Returns its address and a channel of the requests, headers and body.
fn collector() -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            sender.send(read_request(&mut stream.unwrap())).unwrap();
        }
    });
    (address, receiver)
}

fn read_request(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).unwrap();
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else {
            continue;
        };
        let length = text
            .split("content-length: ")
            .nth(1)
            .and_then(|it| it.split("\r\n").next()?.parse().ok());
        if read == 0 || bytes.len() >= end + 4 + length.unwrap_or(0_usize) {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .unwrap();
            return bytes;
        }
    }
}

/// This is the only test here, because telemetry can be started only once per process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_trace_goes_from_the_caller_through_the_bus_to_the_collector() {
    let (otlp_endpoint, requests) = collector();
    let guard = telemetry::start_logs_and_traces(
        &Config {
            otlp_endpoint,
            level: "off".into(),
            ..Config::default()
        },
        "test",
    )
    .unwrap();
    let (context, _dir) = context().await;
    let span = info_span!("http");
    telemetry::adopt_traceparent(&span, &format!("00-{CALLER}-b7ad6b7169203331-01"));
    assert_eq!(span.in_scope(telemetry::trace_id), CALLER);
    context.publish_message(&message(1)).instrument(span).await.unwrap();
    assert_eq!(trace_of_handler(&context).await, CALLER);
    tokio::task::spawn_blocking(|| guard.flush_traces()).await.unwrap();
    // Slow spans may be exported in several requests.
    let mut exported = Vec::new();
    for name in ["http", "publish", "process"] {
        while !exported.windows(name.len()).any(|it| it == name.as_bytes()) {
            let request = requests.recv_timeout(Duration::from_secs(60));
            let request = request.unwrap_or_else(|_| panic!("{name} is not exported"));
            assert!(request.starts_with(b"POST /v1/traces HTTP/1.1"));
            exported.extend(request);
        }
    }
}
