//! Runs the five services as processes, which can be killed and started again.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use fixtures::{WAIT_MAX, look_within};

use super::api::Api;
use super::{SERVICES, environment_variable, free_address};

/// Arguments of `cargo` that build the binaries.
const BUILD: &str = "build --bins -p system -p cli -p gateway -p writer -p clusterer -p router -p reader --features \
                     cli/distributed,gateway/distributed,writer/distributed,clusterer/distributed,router/distributed,reader/distributed";

/// Five service processes over servers, with their logs in one folder; killed when dropped. More processes of a service
/// can be added.
pub struct Processes {
    /// Client of the gateway.
    pub api: Api,
    binaries: PathBuf,
    logs: PathBuf,
    settings: Vec<(String, String)>,
    gateway: String,
    admin: BTreeMap<&'static str, String>,
    running: BTreeMap<&'static str, Child>,
}

impl Processes {
    /// Provisions the servers of `settings` and starts all services.
    ///
    /// # Errors
    /// If the binaries cannot be built, the servers cannot be provisioned, or a service is not ready after two
    /// minutes.
    pub async fn start(settings: Vec<(String, String)>, logs: &Path) -> Result<Processes> {
        let gateway = free_address();
        let mut it = Processes {
            api: Api::new(&gateway)?,
            binaries: folder_of_binaries()?,
            logs: logs.to_path_buf(),
            settings,
            gateway,
            admin: BTreeMap::new(),
            running: BTreeMap::new(),
        };
        let (code, output) = run_mnemic(&it.settings, &["provision"])?;
        ensure!(code == Some(0), "mnemic provision: {output}");
        for service in SERVICES {
            it.start_service(service)?;
        }
        it.wait_until_ready().await?;
        Ok(it)
    }

    /// Starts a service. A name like `writer-2` starts another process of the service, which all other methods know by
    /// this name. There can be only one gateway, because a gateway listens on the address of `api`.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start_service(&mut self, name: &'static str) -> Result<()> {
        self.admin.insert(name, free_address());
        let child = self.command(name)?.spawn()?;
        self.running.insert(name, child);
        Ok(())
    }

    /// Kills a service with SIGKILL.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn kill(&mut self, service: &str) -> Result<()> {
        if let Some(mut child) = self.running.remove(service) {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Waits until every running service reports that it is ready.
    ///
    /// # Errors
    /// If a service is not ready after two minutes; the error contains the end of its log.
    pub async fn wait_until_ready(&mut self) -> Result<()> {
        let running: Vec<&'static str> = self.running.keys().copied().collect();
        for name in running {
            self.is_ready(name).await?;
        }
        Ok(())
    }

    async fn is_ready(&mut self, service: &'static str) -> Result<()> {
        let url = format!("http://{}/readyz", self.admin[service]);
        let look = async || -> Result<Result<(), ExitStatus>> {
            let ended = self.running.get_mut(service).map(Child::try_wait);
            if let Some(Some(status)) = ended.transpose()? {
                return Ok(Err(status));
            }
            let response = self.api.http.get(&url).send().await?;
            match response.status().is_success() {
                true => Ok(Ok(())),
                false => bail!("{}", response.text().await?),
            }
        };
        match look_within(WAIT_MAX, look).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(status)) => bail!("{service} ended with {status}: {}", self.log(service)),
            Err(output) => bail!("{service}: {output:?}; {}", self.log(service)),
        }
    }

    /// Returns the last lines of the log of a service.
    pub fn log(&self, service: &str) -> String {
        let text = std::fs::read_to_string(self.logs.join(service)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// Returns the metrics of a service in the format of Prometheus.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn metrics(&self, service: &str) -> Result<String> {
        let url = format!("http://{}/metrics", self.admin[service]);
        Ok(self.api.http.get(url).send().await?.text().await?)
    }

    /// Returns the process ids of all running services, sorted by name.
    pub fn process_ids(&self) -> Vec<(String, u32)> {
        let ids = self
            .running
            .iter()
            .map(|(name, child)| ((*name).to_owned(), child.id()));
        ids.collect()
    }

    fn command(&self, name: &str) -> Result<Command> {
        let service = name.split('-').next().unwrap_or(name);
        let program = self.binaries.join(format!("mnemic-{service}"));
        let log = File::options().create(true).append(true).open(self.logs.join(name))?;
        let mut command = command_with_settings(&self.settings, &program);
        command.env(environment_variable("gateway.listen"), &self.gateway);
        if let Some(admin) = self.admin.get(name) {
            command.env(environment_variable("admin.listen"), admin);
        }
        command.current_dir(&self.logs).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            // The process may have ended by itself.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// `mnemic serve` over a folder: everything in one process; killed when dropped.
pub struct SingleProcess {
    /// Client of its gateway.
    pub api: Api,
    child: Child,
}

impl SingleProcess {
    /// Starts it and waits until it answers.
    ///
    /// # Errors
    /// If the program cannot be built or started, or does not answer within a minute.
    pub async fn start(dir: &Path) -> Result<SingleProcess> {
        SingleProcess::start_with(dir, &[]).await
    }

    /// Starts it with further settings and waits until it answers. Its log is appended to the file `log` in the
    /// folder.
    ///
    /// # Errors
    /// If the program cannot be built or started, or does not answer within a minute.
    pub async fn start_with(dir: &Path, settings: &[(String, String)]) -> Result<SingleProcess> {
        let gateway = free_address();
        let own = [
            ("backends.dir", dir.display().to_string()),
            ("gateway.listen", gateway.clone()),
            ("admin.listen", free_address()),
        ];
        let own = own.map(|(key, value)| (key.to_owned(), value));
        let settings: Vec<(String, String)> = own.into_iter().chain(settings.iter().cloned()).collect();
        let log = File::options().create(true).append(true).open(dir.join("log"))?;
        let child = command_with_settings(&settings, &folder_of_binaries()?.join("mnemic"))
            .arg("serve")
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let api = Api::new(&gateway)?;
        let single = SingleProcess { api, child };
        let spaces = async || {
            let request = single.api.http.get(format!("{}/spaces", single.api.base));
            single.api.try_send(request).await.map(drop)
        };
        if look_within(WAIT_MAX, spaces).await.is_err() {
            bail!("`mnemic serve` does not answer");
        }
        Ok(single)
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for SingleProcess {
    fn drop(&mut self) {
        // The process may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs `mnemic` with these settings and arguments until it ends, and returns its exit code and output.
///
/// # Errors
/// If the program cannot be built or started.
pub fn run_mnemic(settings: &[(String, String)], arguments: &[&str]) -> Result<(Option<i32>, String)> {
    let output = command_with_settings(settings, &folder_of_binaries()?.join("mnemic"))
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ok((output.status.code(), printed))
}

/// Returns a command with these settings and without the `MNEMIC_` variables of this environment.
fn command_with_settings(settings: &[(String, String)], program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MNEMIC_")) {
        command.env_remove(name);
    }
    command.envs(settings.iter().map(|(key, value)| (environment_variable(key), value)));
    command
}

/// Returns the folder of the binaries: `MNEMIC_TEST_BINARIES`, or else the folder of the test binaries, where `cargo
/// test --workspace` puts them. Builds them if they are missing, which takes minutes. For benches it always runs the
/// build.
fn folder_of_binaries() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("MNEMIC_TEST_BINARIES") {
        return Ok(named.into());
    }
    let test = std::env::current_exe()?;
    let folder = test.ancestors().nth(2).context("a test lies in target/PROFILE/deps")?;
    let release = folder.ends_with("release");
    // A bench is built without the services, so the binaries next to it may be outdated.
    if release || !SERVICES.iter().all(|it| folder.join(format!("mnemic-{it}")).exists()) {
        eprintln!("building the services in {}", folder.display());
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let status = Command::new(cargo)
            .args(BUILD.split_whitespace())
            .args(release.then_some("--release"))
            .current_dir(root)
            .status()?;
        ensure!(status.success(), "cargo {BUILD} failed");
    }
    Ok(folder.to_path_buf())
}
