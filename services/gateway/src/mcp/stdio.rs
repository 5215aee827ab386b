//! An agent that uses standard input and output of this process: the same tools, without a port.

use anyhow::{Context as _, bail};
use domain::id::SpaceId;
use host::clock;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use super::{Handler, Memory};
use crate::app::config::{Config, Right};
use crate::app::keys::access::Access;
use crate::app::state::App;
use crate::use_cases::administration::erasures;
use crate::use_cases::events::open_hooks;

/// Parameters of an agent at standard input.
pub struct Local {
    /// The space; created if it does not exist and the key may create it.
    pub space: SpaceId,
    /// The agent's key; required if the settings have keys.
    pub key: Option<String>,
}

/// Serves the tools of a space over standard input and output until the agent closes them or the process shuts down. It
/// opens no port. Returns at once with an error if the key does not open the space.
///
/// # Errors
/// Invalid settings; a key that is missing, unknown or opens other spaces; a space that cannot be created or read.
pub async fn serve_stdio(context: host::Context, local: Local) -> anyhow::Result<()> {
    let config: Config = context.read_section("gateway")?;
    config.check_bounds()?;
    // Receivers that cannot be used are reported, although this process sends no events.
    drop(open_hooks(&config.webhooks)?);
    let app = App::new(context, config)?;
    let access = find_access(&app, local.key.as_deref()).await?;
    ensure_space_readable(&app, &access, &local.space).await?;
    let _asking = app.context.keep_serving();
    let erasing = tokio::spawn(erasures::finish_all(app.clone()));
    let agent = Handler {
        memory: Memory {
            app: app.clone(),
            space: local.space,
            access,
            trace_id: String::new(),
            patience: None,
        },
        span: None,
    };
    let spoken = async { anyhow::Ok(agent.serve(stdio()).await?.waiting().await?) };
    let outcome = tokio::select! {
        spoken = spoken => spoken.map(drop),
        () = app.context.shutdown.cancelled() => Ok(()),
    };
    erasing.abort();
    app.all_erased().await;
    outcome
}

/// Returns the access of the caller: full access without keys, else the access of its key.
async fn find_access(app: &App, token: Option<&str>) -> anyhow::Result<Access> {
    let store = &app.stores().keys;
    if app.keys.is_open(&**store).await? {
        return Ok(Access::with_all_rights());
    }
    let found = match token {
        Some(token) => app.keys.find_access(store, token, clock::now()).await?,
        None => None,
    };
    found.with_context(|| {
        let why = match token {
            Some(_) => "the key is neither in [[gateway.keys]] nor a valid key that was created through the API",
            None => "the memory has keys",
        };
        format!("{why}: give one that opens the space with --key or MNEMIC_KEY")
    })
}

/// Creates the space if it does not exist; a key that may not write only reads.
async fn ensure_space_readable(app: &App, access: &Access, space: &SpaceId) -> anyhow::Result<()> {
    if !access.opens_space(space.as_str()) || access.require_right(Right::Read).is_err() {
        bail!("the key may not read the space `{space}`");
    }
    let records = &app.stores().records;
    if access.require_right(Right::Write).is_ok() {
        records.create_space(space, clock::now()).await?;
    } else if records.space(space).await?.is_none() {
        bail!(
            "there is no space `{space}`, and the key may not create it: create the space first, or use a key with the right `write`"
        );
    }
    Ok(())
}
