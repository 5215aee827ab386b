//! A nats-server with JetStream, each in its own process and folder.

#![expect(clippy::unwrap_used, reason = "part of tests, though it lives in a library")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use fixtures::WAIT_MAX;
use serde_json::{Value, json};

/// Stops the server when its input ends, so that no server outlives the tests, however they end.
const GUARD: &str = r#"
"$1" -c "$2/nats.conf" >"$2/log" 2>&1 & pid=$!
echo $pid
read -r how
kill "-${how:-TERM}" $pid
wait $pid 2>/dev/null
[ -n "$how" ] || rm -rf "$2"
"#;

/// A server; stopped when dropped, and its data are deleted.
pub struct Nats {
    program: PathBuf,
    dir: PathBuf,
    port: u16,
    monitor: u16,
    guard: Option<Child>,
    pid: u32,
}

impl Nats {
    /// Starts a server whose configuration also contains `more`. Returns `None`, with a note on stderr, if the program
    /// is neither installed nor required.
    ///
    /// # Panics
    /// If the server does not start, or is required but missing.
    #[must_use]
    pub fn start(more: &str) -> Option<Nats> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let program = find_program()?;
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let dir = std::env::temp_dir().join(format!("mnemic-nats-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (port, monitor) = (super::free_port(), super::free_port());
        let store = dir.join("store");
        let config = format!(
            "listen: \"127.0.0.1:{port}\"\nhttp: \"127.0.0.1:{monitor}\"\nmax_payload: 8MB\n\
             jetstream {{ store_dir: \"{}\", sync_interval: always, max_file_store: 64GB }}\n{more}\n",
            store.display()
        );
        std::fs::write(dir.join("nats.conf"), config).unwrap();
        let mut it = Nats {
            program,
            dir,
            port,
            monitor,
            guard: None,
            pid: 0,
        };
        it.restart();
        Some(it)
    }

    /// Returns its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns its folder, where certificates may be stored before a start.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the streams of a prefix and their consumers as the server reports them, or the error of the request.
    pub async fn streams(&self, prefix: &str) -> Value {
        let ask = format!("http://127.0.0.1:{}/jsz?consumers=true&limit=10000", self.monitor);
        let asked = async { reqwest::get(ask).await?.json::<Value>().await };
        let all = match asked.await {
            Ok(all) => all,
            Err(error) => return json!(error.to_string()),
        };
        let of_prefix = |it: &&Value| {
            let name = it["name"].as_str().and_then(|it| it.strip_prefix(prefix));
            name.is_some_and(|it| it.starts_with('-'))
        };
        let streams = all["account_details"][0]["stream_detail"].as_array();
        streams.into_iter().flatten().filter(of_prefix).cloned().collect()
    }

    /// Kills the server without warning; its data stay.
    pub fn kill(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            guard.stdin.take().unwrap().write_all(b"KILL\n").unwrap();
            guard.wait().unwrap();
        }
    }

    /// Starts the server again, on the same port and folder.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&self.program)
            .arg(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(guard.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        self.guard = Some(guard);
        self.pid = line.trim().parse().unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = || std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < WAIT_MAX, "nats-server: {}", log());
            std::thread::yield_now();
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        match self.guard.take() {
            Some(mut guard) => {
                drop(guard.stdin.take());
                drop(guard.wait());
            }
            None => drop(std::fs::remove_dir_all(&self.dir)),
        }
    }
}

fn find_program() -> Option<PathBuf> {
    let named = std::env::var_os("MNEMIC_TEST_NATS").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let program = named.unwrap_or_else(|| home.join(".cache/mnemic-ci/servers/nats/bin/nats-server"));
    if program.exists() {
        return Some(program);
    }
    let required = std::env::var("MNEMIC_TEST_SERVERS").is_ok_and(|it| it == "required");
    assert!(
        !required,
        "no nats-server at {}; run .ci/servers/nats",
        program.display()
    );
    eprintln!("skipped: no nats; run .ci/servers/nats");
    None
}
