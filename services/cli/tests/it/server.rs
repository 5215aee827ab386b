//! Runs the real binary on a free port over its own data directory.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fixtures::{wait_for, wait_until};
use serde_json::{Value, json};

/// A running `mnemic serve`; it is killed when dropped, without a clean shutdown.
pub(crate) struct Server {
    child: Child,
    pub(crate) base: String,
    pub(crate) admin: String,
    pub(crate) http: reqwest::Client,
}

/// Returns an empty directory for the test with the name `name`.
pub(crate) fn fresh_directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Returns a free address. Its port is outside the range that the system gives to outgoing connections, since such a
/// connection could take the port before the server does. No address is returned twice in one process.
fn free_address() -> String {
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(97);
    let mut addresses = (0..COUNT).map(|_| {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst));
        format!("127.0.0.1:{}", FIRST + number % COUNT)
    });
    addresses.find(|it| TcpListener::bind(it).is_ok()).unwrap()
}

/// Returns the command `mnemic` without any settings of this shell.
pub(crate) fn mnemic() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mnemic"));
    without_settings(&mut command);
    command
}

/// Returns the folder in which the commands of this process store their states.
pub(crate) fn states() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("states-{}", std::process::id()))
}

fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars() {
        if name.starts_with("MNEMIC_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_STATE_HOME", states());
}

impl Server {
    /// Starts a server over `data` and returns it once it is ready.
    pub(crate) async fn start(data: &Path) -> Server {
        Server::start_with(data, |program| {
            let mut command = Command::new(program);
            command.arg("serve");
            command
        })
        .await
    }

    /// Starts the command that `wrap` builds from the path of the program.
    pub(crate) async fn start_with(data: &Path, wrap: impl FnOnce(&str) -> Command) -> Server {
        let (listen, admin) = (free_address(), free_address());
        let mut command = wrap(env!("CARGO_BIN_EXE_mnemic"));
        without_settings(&mut command);
        let child = command
            .env("MNEMIC_BACKENDS__DIR", data)
            .env("MNEMIC_GATEWAY__LISTEN", &listen)
            .env("MNEMIC_ADMIN__LISTEN", &admin)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let http = reqwest::Client::builder()
            .timeout(Duration::from_secs(30))
            .build()
            .unwrap();
        let server = Server {
            child,
            base: format!("http://{listen}/v1"),
            admin: format!("http://{admin}"),
            http,
        };
        server.ready().await;
        server
    }

    /// Starts a server in a fresh directory with one space that holds `talk`, searchable.
    pub(crate) async fn with_talk(name: &str, space: &str, talk: &Value) -> Server {
        let server = Server::start(&fresh_directory(name)).await;
        assert_eq!(server.put(&format!("/spaces/{space}")).await.0, 201);
        let (status, body) = server.post(&format!("/spaces/{space}/records"), talk).await;
        assert_eq!(status, 202, "{body}");
        server.written(space, body["watermark"].as_str().unwrap()).await;
        server
    }

    async fn ready(&self) {
        wait_until("the server is ready", async || {
            let response = self.http.get(format!("{}/readyz", self.admin)).send().await;
            response.is_ok_and(|it| it.status().is_success())
        })
        .await;
    }

    /// Waits until all records of a space are written.
    pub(crate) async fn drained(&self, space: &str) {
        self.finished(space, &["backlog"]).await;
    }

    /// Waits until all records of a space are written and everything is derived from them.
    pub(crate) async fn settled(&self, space: &str) {
        self.finished(space, &["backlog", "deriving"]).await;
    }

    /// Waits until these numbers of waiting batches are zero.
    async fn finished(&self, space: &str, waiting: &[&str]) {
        let path = format!("/spaces/{space}/progress");
        wait_for(&format!("{waiting:?} of {space} are zero"), async || {
            let (_, progress) = self.get(&path).await;
            if waiting.iter().all(|it| progress[*it] == json!(0)) {
                Ok(())
            } else {
                Err(progress)
            }
        })
        .await;
    }

    /// Returns the id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns the resident memory of the process in MB.
    pub(crate) fn memory_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|it| it.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }

    /// Kills the process with SIGKILL, which is like a power failure for it.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a request and returns status and body.
    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body))
            .await
    }

    pub(crate) async fn put(&self, path: &str) -> (u16, Value) {
        self.send(self.http.put(format!("{}{path}", self.base))).await
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        self.send(self.http.delete(format!("{}{path}", self.base))).await
    }

    /// Returns all items of a list; follows its cursors to the end.
    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut after = String::new();
        loop {
            let cursor = if after.is_empty() {
                String::new()
            } else {
                format!("&after={after}")
            };
            let (status, page) = self.get(&format!("{path}?limit=200{cursor}")).await;
            assert_eq!(status, 200, "{page}");
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next"].as_str() {
                Some(next) => next.clone_into(&mut after),
                None => return items,
            }
        }
    }

    /// Waits until the write with `watermark` is searchable.
    pub(crate) async fn written(&self, space: &str, watermark: &str) {
        let path = format!("/spaces/{space}/progress?watermark={watermark}&wait_ms=20000");
        wait_for("the write is searchable", async || {
            let (status, body) = self.get(&path).await;
            if status == 504 {
                return Err(body);
            }
            assert_eq!((status, &body["written"]), (200, &json!(true)), "{body}");
            Ok(())
        })
        .await;
    }
}

/// Returns a record of a conversation; its session is its day.
pub(crate) fn line(id: &str, actor: &str, at: &str, text: &str) -> Value {
    json!({ "id": id, "session": at[..10], "actor": actor, "observed_at": at, "text": text })
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
