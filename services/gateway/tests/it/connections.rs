use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use fixtures::wait_until;
use host::{Context, Settings};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Longest wait for an expected event; long enough for a loaded machine.
const SOON: Duration = Duration::from_secs(60);
/// Time within which an unwanted event must not happen.
const QUIET: Duration = Duration::from_millis(300);

/// A gateway that listens on a port.
struct Open {
    context: Context,
    port: u16,
    service: JoinHandle<anyhow::Result<()>>,
    _dir: TempDir,
}

impl Open {
    async fn with(settings: &str) -> Open {
        let dir = tempfile::tempdir().unwrap();
        // The port was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!("[gateway]\nlisten = \"127.0.0.1:{port}\"\n{settings}");
        let settings = Settings::from_toml(&settings, "test").unwrap();
        let context = Context::embedded_with(dir.path(), settings).await.unwrap();
        let service = tokio::spawn(gateway::run(context.clone()));
        wait_until("the gateway listens", async || {
            context.readiness.missing_components().is_empty() && TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
        .await;
        Open {
            context,
            port,
            service,
            _dir: dir,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream
    }

    async fn end(self) {
        self.context.shutdown.cancel();
        self.service.await.unwrap().unwrap();
    }
}

/// Returns the status line of the response; empty if the connection is closed.
fn read_status_line(mut stream: &TcpStream) -> String {
    let mut bytes = [0; 15];
    let mut length = 0;
    while length < bytes.len() {
        match stream.read(&mut bytes[length..]).unwrap() {
            0 => break,
            more => length += more,
        }
    }
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

/// Sends the head of a request without its body, and waits until the request is in progress.
fn begin(mut stream: &TcpStream) {
    let head =
        "POST /v1/spaces/s/query HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert!(read_status_line(stream).starts_with("HTTP/1.1 100"));
}

fn ask(mut stream: &TcpStream) {
    stream
        .write_all(b"GET /v1/spaces HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_a_request_is_closed() {
    let gateway = Open::with("header_ms_max = 2000").await;
    let (silent, slow) = (gateway.connect(), gateway.connect());
    (&slow).write_all(b"GET /v1/spaces HTTP/1.1\r\nhost:").unwrap();
    assert_eq!(read_status_line(&silent), "");
    assert!(!read_status_line(&slow).contains("200"));
    let asking = gateway.connect();
    ask(&asking);
    assert_eq!(read_status_line(&asking), "HTTP/1.1 200 OK");
    gateway.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_whose_caller_reads_nothing_is_closed() {
    const ASKED: usize = 200;
    let gateway = Open::with("send_ms_max = 200").await;
    let deaf = gateway.connect();
    let asked = "GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(ASKED);
    (&deaf).write_all(asked.as_bytes()).unwrap();
    // A caller that reads nothing sees only by writing that it was disconnected.
    deaf.set_nonblocking(true).unwrap();
    let is_closed = async || {
        let written = (&deaf).write_all(b"\r\n");
        written.is_err_and(|it| it.kind() != ErrorKind::WouldBlock)
    };
    wait_until("the connection is closed", is_closed).await;
    deaf.set_nonblocking(false).unwrap();
    let mut taken = Vec::new();
    // The network decides whether the connection ends with an end of stream or a reset.
    let _end = (&deaf).read_to_end(&mut taken);
    let answers = String::from_utf8_lossy(&taken).matches("HTTP/1.1 200 OK").count();
    assert!(answers < ASKED, "all {answers} were kept for it");
    gateway.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_beyond_the_limit_wait_while_all_others_are_busy() {
    let gateway = Open::with("connections_max = 2").await;
    let (first, second) = (gateway.connect(), gateway.connect());
    for stream in [&first, &second] {
        begin(stream);
    }
    let third = gateway.connect();
    ask(&third);
    third.set_read_timeout(Some(QUIET)).unwrap();
    assert!((&third).read(&mut [0; 1]).is_err(), "answered though there are two");
    drop(first);
    third.set_read_timeout(Some(SOON)).unwrap();
    assert_eq!(read_status_line(&third), "HTTP/1.1 200 OK");
    drop(second);
    gateway.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_without_a_request_are_closed_for_new_ones() {
    for bound in ["connections_max = 2", "connections_per_address_max = 2"] {
        let gateway = Open::with(bound).await;
        let busy = gateway.connect();
        begin(&busy);
        let idle: Vec<TcpStream> = (0..20).map(|_| gateway.connect()).collect();
        let asking = gateway.connect();
        ask(&asking);
        assert_eq!(read_status_line(&asking), "HTTP/1.1 200 OK", "{bound}");
        assert_eq!(read_status_line(&idle[0]), "", "{bound}");
        // The answered connection is closed too, and the busy one is not.
        let next = gateway.connect();
        ask(&next);
        assert_eq!(read_status_line(&next), "HTTP/1.1 200 OK", "{bound}");
        (&busy).write_all(b"{}").unwrap();
        let mut rest = [0; 64];
        assert!((&busy).read(&mut rest).unwrap() > 0, "{bound}");
        gateway.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_whose_connections_are_all_busy_is_refused() {
    let gateway = Open::with("connections_per_address_max = 1").await;
    let busy = gateway.connect();
    begin(&busy);
    let next = gateway.connect();
    // Nothing may arrive before the request: a client that opens connections in advance would take it for a response.
    next.set_read_timeout(Some(QUIET)).unwrap();
    assert!((&next).read(&mut [0; 1]).is_err(), "refused before it asked");
    next.set_read_timeout(Some(SOON)).unwrap();
    ask(&next);
    let refused = answer(&next);
    assert!(
        refused.starts_with("http/1.1 429") && refused.contains("retry-after: 1"),
        "{refused}"
    );
    // A connection that never sends a request is closed without a response.
    assert_eq!(read_status_line(&gateway.connect()), "");
    gateway.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_must_send_its_first_request_in_time() {
    let gateway = Open::with("first_request_ms_max = 2000").await;
    let (silent, slow, asking) = (gateway.connect(), gateway.connect(), gateway.connect());
    (&slow).write_all(b"GET /v1/spaces HTTP/1.1\r\nhost:").unwrap();
    ask(&asking);
    assert!(answer(&asking).starts_with("http/1.1 200"));
    assert_eq!([read_status_line(&silent), read_status_line(&slow)], ["", ""]);
    ask(&asking);
    assert!(answer(&asking).starts_with("http/1.1 200"));
    gateway.end().await;
}

/// Returns the next response as a whole, with its head in lower case.
fn answer(mut stream: &TcpStream) -> String {
    let (mut text, mut byte) = (String::new(), [0; 1]);
    while !text.ends_with("\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "hung up after {text:?}");
        text.push(char::from(byte[0]));
    }
    let text = text.to_lowercase();
    let length = text
        .split("content-length: ")
        .nth(1)
        .unwrap()
        .split("\r\n")
        .next()
        .unwrap();
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).unwrap();
    text
}

/// Clients send the body after the head, and then the next request on the same connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unread_body_does_not_close_the_connection() {
    let gateway = Open::with("").await;
    let stream = gateway.connect();
    for _ in 0..3 {
        (&stream)
            .write_all(b"POST /v1/nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n\r\n")
            .unwrap();
        // The gateway waits for the body meanwhile, as it does for a slow client.
        tokio::time::sleep(QUIET).await;
        (&stream).write_all(b"{}").unwrap();
        let refused = answer(&stream);
        assert!(
            refused.starts_with("http/1.1 404") && !refused.contains("connection: close"),
            "{refused}"
        );
    }
    ask(&stream);
    assert!(answer(&stream).starts_with("http/1.1 200"));
    drop(stream);
    gateway.end().await;
}

/// A client whose connection is closed gets a response, and is not asked for the body.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_arrive_closes_the_connection() {
    let gateway = Open::with("").await;
    for more in ["", "expect: 100-continue\r\n"] {
        let stream = gateway.connect();
        let head = format!("POST /v1/nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\n{more}\r\n");
        (&stream).write_all(head.as_bytes()).unwrap();
        let refused = answer(&stream);
        assert!(
            refused.starts_with("http/1.1 404") && refused.contains("connection: close"),
            "{refused}"
        );
    }
    gateway.end().await;
}
