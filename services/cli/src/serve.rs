//! Runs all of Mnemic in this process.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, absolute};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use host::{Context, Settings};
use serde::Deserialize;

use crate::args::{Local, Serve};
use crate::{config, out, upkeep};

/// Interval of the readiness checks.
const PAUSE: Duration = Duration::from_millis(20);

/// Address of the admin port if no setting gives one.
const ADMIN: &str = "127.0.0.1:7078";

/// The part of `[admin]` that is needed here.
#[derive(Default, Deserialize)]
struct Admin {
    listen: Option<String>,
}

/// Serves until the process gets a signal.
pub(crate) fn serve(args: &Serve) -> ExitCode {
    let prepared = settings(&args.local).and_then(|mut settings| {
        if let Some(listen) = &args.listen {
            settings.set("gateway.listen", listen.as_str())?;
        }
        if let Some(admin) = &args.admin {
            settings.set("admin.listen", admin.as_str())?;
        }
        if args.distributed {
            settings.set("backends.kind", "distributed")?;
        }
        let greeting = greeting(&settings)?;
        config::check_weights(&settings)?;
        admin_is_free(&settings)?;
        Ok((settings, greeting))
    });
    let (settings, greeting) = match prepared {
        Ok(it) => it,
        Err(error) => {
            out::complain(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    host::standalone(settings, async |ctx| {
        let greet = async {
            if up(&ctx).await {
                out::say(&greeting);
            }
            Ok(())
        };
        tokio::try_join!(services(ctx.clone()), greet)?;
        Ok(())
    })
}

/// Runs the five services until shutdown.
pub(crate) async fn services(ctx: Context) -> anyhow::Result<()> {
    tokio::try_join!(gateway::run(ctx.clone()), workers(ctx))?;
    Ok(())
}

/// Runs the services behind the gateway until shutdown.
pub(crate) async fn workers(ctx: Context) -> anyhow::Result<()> {
    tokio::try_join!(
        writer::run(ctx.clone()),
        clusterer::run(ctx.clone()),
        router::run(ctx.clone()),
        reader::run(ctx),
    )?;
    Ok(())
}

/// Returns true once all services are ready, false if the process shuts down first.
pub(crate) async fn up(ctx: &Context) -> bool {
    while !ctx.readiness.missing().is_empty() {
        tokio::select! {
            () = ctx.shutdown.cancelled() => return false,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    true
}

/// Returns the settings of the file, the environment and the command line.
pub(crate) fn settings(local: &Local) -> anyhow::Result<Settings> {
    let mut settings = Settings::load(local.config.as_deref())?;
    if let Some(data) = &local.data {
        let text = data
            .to_str()
            .with_context(|| format!("{} is not UTF-8", data.display()))?;
        settings.set("backends.dir", text)?;
    }
    Ok(settings)
}

/// Changes the settings to serve the memory in `dir` on free local ports, with only errors logged; returns the URL.
pub(crate) fn apart(settings: &mut Settings, dir: &Path) -> anyhow::Result<String> {
    let (address, admin) = (free_address()?, free_address()?);
    let dir = dir
        .to_str()
        .with_context(|| format!("{} is not UTF-8", dir.display()))?;
    settings.set("backends.dir", dir)?;
    settings.set("gateway.listen", address.as_str())?;
    settings.set("admin.listen", admin.as_str())?;
    settings.set("telemetry.level", "error")?;
    Ok(format!("http://{address}"))
}

/// Returns an address on a port that is free at the moment.
fn free_address() -> anyhow::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.to_string())
}

/// Fails if the admin port is taken. Without this check, the services would start and report readiness before the
/// failure shows.
fn admin_is_free(settings: &Settings) -> anyhow::Result<()> {
    let admin: Admin = settings.section("admin")?;
    let listen = admin.listen.as_deref().unwrap_or(ADMIN);
    TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen} ([admin] listen)"))?;
    Ok(())
}

fn greeting(settings: &Settings) -> anyhow::Result<String> {
    let gateway: gateway::Config = settings.section("gateway")?;
    let listen = &gateway.listen;
    let memory = match upkeep::directory(settings)? {
        Some(dir) => absolute(&dir).unwrap_or(dir).display().to_string(),
        None => "NATS, Qdrant and Neo4j, see [backends]".to_owned(),
    };
    let keys = match gateway.keys.len() {
        0 => "none: whoever reaches this address may read and write; make one with `mnemic keys new`".to_owned(),
        count => format!("{count} configured"),
    };
    Ok(format!(
        "mnemic {} listens on http://{listen}\n  docs    http://{listen}/docs\n  MCP     http://{listen}/v1/spaces/NAME/mcp\n  memory  {memory}\n  keys    {keys}\n\
         Ctrl-C stops it. Next: mnemic import FILE --space NAME",
        env!("CARGO_PKG_VERSION")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_admin_port_equals_the_default_of_the_host() {
        let shown = Settings::default().in_force().unwrap();
        let (_, section) = shown.split_once("[admin]").unwrap();
        let listen = section.lines().find(|it| it.starts_with("listen")).unwrap();
        assert_eq!(listen, format!("listen = \"{ADMIN}\""));
    }
}
