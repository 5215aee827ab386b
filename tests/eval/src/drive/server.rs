//! Starts a standalone server in its own process, with a temporary folder and free ports.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};

/// Number of pauses of [`PAUSE`] before a server that is not ready counts as failed.
const PAUSES: u32 = 600;

/// Pause between two readiness checks.
const PAUSE: Duration = Duration::from_millis(100);

/// Number of lines of a failed server's log that an error shows.
const LOG_LINES: usize = 20;

/// A setting of a server, as an environment variable.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name of the variable.
    pub name: &'static str,
    /// Value of the variable.
    pub value: PathBuf,
}

/// A running server. Dropping it stops the process and deletes its temporary folder. A data folder of the caller
/// stays.
pub struct Server {
    process: Child,
    dir: PathBuf,
    address: String,
}

impl Server {
    /// Starts a server with additional settings, and waits until it is ready.
    ///
    /// # Errors
    /// If the program is missing, or if it is not ready within a minute; the error contains the end of its log.
    pub async fn start(program: &Path, settings: &[Setting]) -> anyhow::Result<Server> {
        Server::start_in(program, &scratch().join("data"), settings).await
    }

    /// Starts a server that stores its data in the folder `data`. The folder stays when the server stops.
    ///
    /// # Errors
    /// Those of [`Server::start`].
    pub async fn start_in(program: &Path, data: &Path, settings: &[Setting]) -> anyhow::Result<Server> {
        let dir = scratch();
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        let log = File::create(dir.join("log")).context("cannot create the server's log")?;
        let (address, admin) = (free_address()?, free_address()?);
        let process = Command::new(program)
            .args(["serve", "--listen", &address, "--admin", &admin, "--data"])
            .arg(data)
            .envs(settings.iter().map(|it| (it.name, &it.value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}; name the program with --mnemic", program.display()))?;
        let mut server = Server { process, dir, address };
        server.wait(&admin).await?;
        Ok(server)
    }

    /// Returns the address at which the server listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the path where `mnemic` is expected: next to this program.
    ///
    /// # Errors
    /// If the system does not report the path of this program.
    pub fn beside() -> anyhow::Result<PathBuf> {
        let own = std::env::current_exe().context("cannot tell where this program is")?;
        Ok(own.with_file_name(format!("mnemic{}", std::env::consts::EXE_SUFFIX)))
    }

    async fn wait(&mut self, admin: &str) -> anyhow::Result<()> {
        let url = format!("http://{admin}/readyz");
        let http = reqwest::Client::new();
        for _ in 0..PAUSES {
            if let Some(status) = self.process.try_wait()? {
                bail!("the server ended with {status}:\n{}", self.log());
            }
            let ready = http.get(&url).send().await.is_ok_and(|it| it.status().is_success());
            if ready {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("the server is not ready after a minute:\n{}", self.log())
    }

    fn log(&self) -> String {
        let text = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already, and a folder that stays in the temporary folder does no harm.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Returns the temporary folder of this process for a server. It contains the log, and also the data if the caller
/// gave no folder.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("mnemic-eval-{}", std::process::id()))
}

/// Returns an address on which no program listens at the moment.
fn free_address() -> anyhow::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.to_string())
}
