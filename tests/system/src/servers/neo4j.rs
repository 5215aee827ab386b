//! A Neo4j server.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use adapters::Secret;
use adapters::servers::neo4j::Options;
use anyhow::{Context, Result, bail};
use fixtures::look_within;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Password of the user `neo4j` on servers that require one.
pub const PASSWORD: &str = "only-for-tests";

/// Longest wait for a server to answer; a busy machine takes almost a minute.
const START_MAX: Duration = Duration::from_secs(180);
/// Greeting of a client: the magic number and the only version that it supports, 4.4. The server answers with the
/// version that it chose.
const GREETING: [u8; 20] = [0x60, 0x60, 0xb0, 0x17, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Waits for the end of its input, then kills the server whose process id is in `pid` and removes the folder. So the
/// server ends with the process that started it, however that process ends.
const GUARD: &str = r#"cat >/dev/null; pid=$(cat "$1/pid"); kill -9 "$pid" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9; do kill -0 "$pid" 2>/dev/null || break; sleep 0.2; done; rm -rf "$1""#;

/// A running server with all its data in one folder; stopped when dropped.
pub struct Server {
    program: PathBuf,
    home: PathBuf,
    port: u16,
    password: bool,
    process: Child,
    guard: Child,
}

impl Server {
    /// Starts a server, with a password or open to everybody. `conf` is added to its configuration. Returns `None` if
    /// the program is neither installed nor required.
    ///
    /// # Errors
    /// If it is required but missing, or does not answer in time.
    pub async fn start(password: bool, conf: &str) -> Result<Option<Server>> {
        let Some(program) = find_program()? else {
            return Ok(None);
        };
        let home = TempDir::new()?.keep();
        std::fs::write(home.join("extra.conf"), conf)?;
        let port = super::free_port();
        let mut guard = Command::new("bash");
        guard.args(["-c", GUARD, "guard"]).arg(&home);
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let guard = guard.spawn()?;
        let process = Command::new("true").spawn()?;
        let mut server = Server {
            program,
            home,
            port,
            password,
            process,
            guard,
        };
        server.restart().await?;
        Ok(Some(server))
    }

    /// Starts the server again over its stored data, after [`Server::kill`].
    ///
    /// # Errors
    /// If it does not answer in time.
    pub async fn restart(&mut self) -> Result<()> {
        self.process.wait()?;
        let log = File::options().create(true).append(true).open(self.home.join("log"))?;
        let mut command = Command::new(&self.program);
        command.arg(&self.home).arg(self.port.to_string());
        if self.password {
            command.arg(PASSWORD);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        self.process = command.spawn().context("starting neo4j")?;
        std::fs::write(self.home.join("pid"), self.process.id().to_string())?;
        let look = async || match is_port_answered(self.port).await {
            true => Ok(true),
            false => match self.process.try_wait() {
                Ok(None) => Err(()),
                Ok(Some(_)) | Err(_) => Ok(false),
            },
        };
        if look_within(START_MAX, look).await == Ok(true) {
            return Ok(());
        }
        let log = std::fs::read_to_string(self.home.join("log"))?;
        bail!("neo4j did not start:\n{log}")
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Kills the server immediately, like a crash.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }

    /// Pauses its threads (`STOP`) or continues them (`CONT`).
    ///
    /// # Errors
    /// If the system refuses.
    pub fn signal(&self, name: &str) -> Result<()> {
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.process.id().to_string())
            .status()?;
        anyhow::ensure!(status.success(), "kill -{name} failed");
        Ok(())
    }

    /// Returns the options of a client for one namespace. Timeouts are long, because a fresh server on a busy machine
    /// is slow.
    pub fn options(&self, namespace: &str) -> Options {
        Options {
            url: format!("bolt://localhost:{}", self.port),
            password: if self.password {
                PASSWORD.into()
            } else {
                Secret::default()
            },
            namespace: namespace.to_owned(),
            connect_ms: 30_000,
            call_ms: 30_000,
            ..Options::default()
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The guard kills the server again when its input ends, and removes the folder.
        drop(self.kill());
        drop(self.guard.stdin.take());
        drop(self.guard.wait());
    }
}

/// Returns the program that starts a server, if it is installed.
fn find_program() -> Result<Option<PathBuf>> {
    let path = match (std::env::var_os("MNEMIC_TEST_NEO4J"), std::env::var_os("HOME")) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(home)) => PathBuf::from(home).join(".cache/mnemic-ci/servers/neo4j/start"),
        (None, None) => PathBuf::new(),
    };
    if path.is_file() {
        return Ok(Some(path));
    }
    if std::env::var("MNEMIC_TEST_SERVERS").is_ok_and(|it| it == "required") {
        bail!("no neo4j; run .ci/servers/neo4j");
    }
    eprintln!("skipped: no neo4j; run .ci/servers/neo4j");
    Ok(None)
}

async fn is_port_answered(port: u16) -> bool {
    let greet = async {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.write_all(&GREETING).await?;
        let mut chosen = [0; 4];
        stream.read_exact(&mut chosen).await?;
        std::io::Result::Ok(chosen)
    };
    matches!(
        tokio::time::timeout(Duration::from_secs(2), greet).await,
        Ok(Ok([0, 0, 4, 4]))
    )
}
