//! Runs all of Mnemic in this process.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, absolute};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use host::{Context, Settings};
use serde::Deserialize;

use crate::args::Serve;
use crate::local_commands::settings::load_settings;
use crate::local_commands::{backup, config};
use crate::output;

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
pub(crate) fn run_server(args: &Serve) -> ExitCode {
    let prepared = load_settings(&args.local).and_then(|mut settings| {
        if let Some(listen) = &args.listen {
            settings.set_key("gateway.listen", listen.as_str())?;
        }
        if let Some(admin) = &args.admin {
            settings.set_key("admin.listen", admin.as_str())?;
        }
        if args.distributed {
            settings.set_key("backends.kind", "distributed")?;
        }
        let greeting = greeting_text(&settings)?;
        config::check_weights(&settings)?;
        admin_is_free(&settings)?;
        Ok((settings, greeting))
    });
    let (settings, greeting) = match prepared {
        Ok(it) => it,
        Err(error) => {
            output::print_error_line(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    host::run_standalone(settings, async |ctx| {
        let greet = async {
            if wait_until_ready(&ctx).await {
                output::print_line(&greeting);
            }
            Ok(())
        };
        tokio::try_join!(run_services(ctx.clone()), greet)?;
        Ok(())
    })
}

/// Runs the five services until shutdown.
pub(crate) async fn run_services(ctx: Context) -> anyhow::Result<()> {
    tokio::try_join!(run_workers(ctx.clone()), gateway::run(ctx))?;
    Ok(())
}

/// Runs the services behind the gateway until shutdown.
pub(crate) async fn run_workers(ctx: Context) -> anyhow::Result<()> {
    // A service registers what must be up when it is polled first. Until all have done so, the process is not ready,
    // even if everything that is registered is up.
    let begun = ctx.readiness.register_component("all services have begun to start");
    let begin = async {
        begun.set_is_up(true);
        anyhow::Ok(())
    };
    tokio::try_join!(
        writer::run(ctx.clone()),
        clusterer::run(ctx.clone()),
        router::run(ctx.clone()),
        reader::run(ctx.clone()),
        begin,
    )?;
    Ok(())
}

/// Returns true once all services are ready, false if the process shuts down first.
pub(crate) async fn wait_until_ready(ctx: &Context) -> bool {
    while !ctx.readiness.missing_components().is_empty() {
        tokio::select! {
            () = ctx.shutdown.cancelled() => return false,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    true
}

/// Changes the settings to serve the memory in `dir` on free local ports, with only errors logged; returns the URL.
pub(crate) fn configure_private_server(settings: &mut Settings, dir: &Path) -> anyhow::Result<String> {
    let (address, admin) = (free_address()?, free_address()?);
    let dir = dir
        .to_str()
        .with_context(|| format!("{} is not UTF-8", dir.display()))?;
    settings.set_key("backends.dir", dir)?;
    settings.set_key("gateway.listen", address.as_str())?;
    settings.set_key("admin.listen", admin.as_str())?;
    settings.set_key("telemetry.level", "error")?;
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
    let admin: Admin = settings.read_section("admin")?;
    let listen = admin.listen.as_deref().unwrap_or(ADMIN);
    TcpListener::bind(listen).with_context(|| format!("cannot listen on {listen} ([admin] listen)"))?;
    Ok(())
}

fn greeting_text(settings: &Settings) -> anyhow::Result<String> {
    let gateway: gateway::Config = settings.read_section("gateway")?;
    let listen = &gateway.listen;
    let memory = match backup::embedded_directory(settings)? {
        Some(dir) => absolute(&dir).unwrap_or(dir).display().to_string(),
        None => "NATS, Qdrant and Neo4j, see [backends]".to_owned(),
    };
    let keys = match gateway.keys.len() {
        0 => "none in the settings: without a key in the store, anyone who can reach this address may read and write; create one with \
              `mnemic keys new`"
            .to_owned(),
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
    fn the_greeting_claims_nothing_about_keys_in_the_store() {
        let greeting = greeting_text(&Settings::default()).unwrap();
        let expected = "keys    none in the settings: without a key in the store, anyone who can reach this address";
        assert!(greeting.contains(expected), "{greeting}");
    }

    #[test]
    fn the_default_admin_port_equals_the_default_of_the_host() {
        let shown = Settings::default().in_force().unwrap();
        let (_, section) = shown.split_once("[admin]").unwrap();
        let listen = section.lines().find(|it| it.starts_with("listen")).unwrap();
        assert_eq!(listen, format!("listen = \"{ADMIN}\""));
    }
}
