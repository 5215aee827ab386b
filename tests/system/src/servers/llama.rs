//! A llama.cpp server with a small language model, which `.ci/llama` installs. Its replies match schemas but have no
//! meaning.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use adapters::models::endpoint::chat::Options;
use anyhow::{Context, Result, bail};
use fixtures::{WAIT_MAX, look_within};
use serde_json::Value;
use tempfile::TempDir;

/// Program that serves until its input ends, so that no server outlives the tests.
const PROGRAM: &str = include_str!("llama.py");
/// Name of the model.
const MODEL: &str = "small";
/// Key that it requires.
const KEY: &str = "open sesame";

/// A running server that answers one request at a time; stopped when dropped.
pub struct Llama {
    process: Child,
    port: u16,
    http: reqwest::Client,
    _home: TempDir,
}

impl Llama {
    /// Starts a server. Returns `None`, with a note on stderr, if llama.cpp is neither installed nor required.
    ///
    /// # Errors
    /// If it is required but missing, or does not start.
    pub async fn start() -> Result<Option<Llama>> {
        let Some(folder) = llama_folder()? else { return Ok(None) };
        let home = TempDir::new()?;
        let log = File::create(home.path().join("log"))?;
        let port = super::free_port();
        let process = Command::new(folder.join("venv/bin/python"))
            .args(["-c", PROGRAM])
            .arg(folder.join("model.gguf"))
            .args([MODEL, KEY, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("starting llama.cpp")?;
        let llama = Llama {
            process,
            port,
            http: reqwest::Client::new(),
            _home: home,
        };
        match look_within(WAIT_MAX, async || llama.answers().await).await {
            Ok(_) => Ok(Some(llama)),
            Err(error) => bail!("llama.cpp did not start: {error:?}"),
        }
    }

    /// Returns the options of a client with the right key and with these parameters.
    pub fn options(&self, parameters: &Value) -> Options {
        let parameters = parameters.as_object().cloned().unwrap_or_default();
        Options {
            url: format!("http://127.0.0.1:{}/v1", self.port),
            model: MODEL.to_owned(),
            key: KEY.into(),
            parameters: parameters.into_iter().collect(),
            ..Options::default()
        }
    }

    /// Checks the health of the server; fails while the model loads.
    async fn answers(&self) -> Result<()> {
        let url = format!("http://127.0.0.1:{}/health", self.port);
        self.http.get(url).send().await?.error_for_status()?;
        Ok(())
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        // The server stores nothing, and it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the folder that `.ci/llama` fills, or another one that `MNEMIC_TEST_LLAMA` names. If a named folder has no
/// server, the package registry has none, and tests are skipped even where servers are required.
fn llama_folder() -> Result<Option<PathBuf>> {
    let home = std::env::var("HOME").unwrap_or_default();
    let default = PathBuf::from(home).join(".cache/mnemic-ci/llama");
    let named = std::env::var_os("MNEMIC_TEST_LLAMA").map(PathBuf::from);
    let required = named.is_none() && std::env::var("MNEMIC_TEST_SERVERS").is_ok_and(|it| it == "required");
    let folder = named.unwrap_or(default);
    if folder.join("model.gguf").is_file() {
        return Ok(Some(folder));
    }
    if required {
        bail!("no llama.cpp in {}; run .ci/llama", folder.display());
    }
    eprintln!("skipped: no llama.cpp; .ci/llama installs one with a small model");
    Ok(None)
}
