//! All of Mnemic in this process.

use std::path::absolute;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use host::{Context, Settings};

use crate::args::{Local, Serve};
use crate::{out, upkeep};

/// Pause between two looks at whether everything is up.
const PAUSE: Duration = Duration::from_millis(20);

/// Serves until a signal.
pub(crate) fn serve(args: &Serve) -> ExitCode {
    let prepared = settings(&args.local).and_then(|mut settings| {
        if let Some(listen) = args.listen {
            settings.set("gateway.listen", listen.to_string())?;
        }
        if let Some(admin) = args.admin {
            settings.set("admin.listen", admin.to_string())?;
        }
        if args.distributed {
            settings.set("backends.kind", "distributed")?;
        }
        let greeting = greeting(&settings)?;
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
    tokio::try_join!(
        gateway::run(ctx.clone()),
        writer::run(ctx.clone()),
        clusterer::run(ctx.clone()),
        router::run(ctx.clone()),
        reader::run(ctx),
    )?;
    Ok(())
}

/// Returns true once everything is up, false if the process is to end before.
pub(crate) async fn up(ctx: &Context) -> bool {
    while !ctx.readiness.missing().is_empty() {
        tokio::select! {
            () = ctx.shutdown.cancelled() => return false,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    true
}

/// Returns the settings that file, environment and command line make.
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
