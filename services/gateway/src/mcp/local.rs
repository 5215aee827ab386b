//! An agent that uses standard input and output of this process: the same tools, without a port.

use anyhow::{Context as _, bail};
use domain::id::SpaceId;
use host::{clock, telemetry};
use rmcp::ServiceExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::stdio;
use tracing::info_span;

use super::{Handler, Memory};
use crate::auth::Access;
use crate::config::{Config, Right};
use crate::erasures;
use crate::state::App;

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
pub async fn serve(context: host::Context, local: Local) -> anyhow::Result<()> {
    let config: Config = context.section("gateway")?;
    config.check_bounds()?;
    let app = App::new(context, config)?;
    let access = access(&app, local.key.as_deref()).await?;
    prepare(&app, &access, &local.space).await?;
    let _asking = app.context.keep_serving();
    let erasing = tokio::spawn(erasures::finish_all(app.clone()));
    let agent = Agent {
        app: app.clone(),
        space: local.space,
        access,
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
async fn access(app: &App, token: Option<&str>) -> anyhow::Result<Access> {
    let store = &app.stores().keys;
    if app.keys.is_open(&**store).await? {
        return Ok(Access::all());
    }
    let found = match token {
        Some(token) => app.keys.find(store, token, clock::now()).await?,
        None => None,
    };
    found.with_context(|| {
        let why = match token {
            Some(_) => "the key is none of [[gateway.keys]] and none that was made through the API and is valid",
            None => "there are keys",
        };
        format!("{why}: give one that opens the space with --key or MNEMIC_KEY")
    })
}

/// Creates the space if it does not exist; a key that may not write only reads.
async fn prepare(app: &App, access: &Access, space: &SpaceId) -> anyhow::Result<()> {
    if !access.opens(space.as_str()) || access.demand(Right::Read).is_err() {
        bail!("the key may not read the space `{space}`");
    }
    let records = &app.stores().records;
    if access.demand(Right::Write).is_ok() {
        records.create_space(space, clock::now()).await?;
    } else if records.space(space).await?.is_none() {
        bail!("there is no space `{space}`, and the key may not create it");
    }
    Ok(())
}

/// The single caller of this process.
struct Agent {
    app: App,
    space: SpaceId,
    access: Access,
}

impl Agent {
    /// Returns the handler of one request, in a trace of its own.
    fn handler(&self) -> Handler {
        let span = info_span!("mcp", trace_id = tracing::field::Empty);
        telemetry::note_trace_id(&span);
        let trace_id = span.in_scope(telemetry::trace_id);
        Handler {
            memory: Memory {
                app: self.app.clone(),
                space: self.space.clone(),
                access: self.access.clone(),
                trace_id,
            },
            span,
        }
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        self.handler().get_info()
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.handler().list_tools(page, context).await
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.handler().call_tool(call, context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.handler().list_resources(page, context).await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.handler().list_resource_templates(page, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.handler().read_resource(request, context).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.handler().list_prompts(page, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.handler().get_prompt(request, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.handler().on_custom_request(request, context).await
    }
}
