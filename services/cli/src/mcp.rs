use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use domain::id::SpaceId;
use rmcp::ServiceExt;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ResultType, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, stdio};

use crate::api::{Client, Error};
use crate::args::{Local, Mcp};
use crate::local_commands::{config, serve, settings};
use crate::{Outcome, output};

/// Forwards the requests of an agent from standard input to a server, until the agent closes the connection.
pub(crate) async fn forward_agent_requests(args: &Mcp) -> anyhow::Result<Outcome> {
    bridge_agent_and_server(&args.remote.url, args.remote.key.as_ref(), &args.space).await?;
    Ok(Outcome::Done)
}

/// Serves an agent without a server, over the memory in a folder that only this process has open meanwhile. It opens no
/// port, so other users of this machine cannot reach the memory through it.
pub(crate) fn serve_agent_from_folder(args: &Mcp, data: &Path) -> ExitCode {
    let local = Local {
        config: args.config.clone(),
        data: Some(data.to_owned()),
    };
    let prepared = settings::load_settings(&local).and_then(|mut settings| {
        // This mode always serves files, whatever the settings say, and standard error is the agent's log.
        settings.set_key("backends.kind", "embedded")?;
        settings.set_key("telemetry.level", "error")?;
        config::check_weights(&settings)?;
        Ok(settings)
    });
    let settings = match prepared {
        Ok(it) => it,
        Err(error) => {
            output::print_error_line(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    let agent = gateway::Local {
        space: args.space.clone(),
        key: args.remote.key.clone(),
    };
    host::without_ports(settings, async |ctx| {
        let speak = async {
            let spoken = if serve::wait_until_ready(&ctx).await {
                gateway::serve_mcp(ctx.clone(), agent).await
            } else {
                Ok(())
            };
            ctx.shutdown.cancel();
            spoken
        };
        tokio::try_join!(serve::run_workers(ctx.clone()), speak)?;
        Ok(())
    })
}

/// Connects the agent and a server until the agent closes its side.
async fn bridge_agent_and_server(server: &str, key: Option<&String>, space: &SpaceId) -> anyhow::Result<()> {
    let client = Client::new(server, key.cloned())?;
    ensure_space_exists(&client, space).await?;
    let url = client.url_of_path(&["v1", "spaces", space.as_str(), "mcp"], &[]);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    if let Some(key) = key {
        config = config.auth_header(key);
    }
    let implementation = Implementation::new("mnemic", env!("CARGO_PKG_VERSION"));
    let server = ClientConfig::new(ClientCapabilities::default(), implementation)
        .serve(StreamableHttpClientTransport::from_config(config))
        .await
        .with_context(|| format!("{url} does not speak the Model Context Protocol"))?;
    let bridge = Bridge {
        server: server.peer().clone(),
    };
    bridge.serve(stdio()).await?.waiting().await?;
    server.cancel().await?;
    Ok(())
}

/// Creates the space if it is missing; a key without the right `write` uses the existing space. Fails if there is no
/// space to read.
async fn ensure_space_exists(client: &Client, space: &SpaceId) -> anyhow::Result<()> {
    let refused = match client.create_space(space).await {
        Ok(_) => None,
        Err(error @ Error::Refused { status: 403, .. }) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let read = client.get_space(space).await;
    read.map_err(|error| refused.unwrap_or(error))
        .with_context(|| format!("the space `{space}` cannot be read"))?;
    Ok(())
}

/// Agents with protocol 2026-07-28 refuse a result without the mark that it is complete. This bridge asks the server in
/// an earlier version, whose results lack the mark; for agents of earlier versions the library removes it again.
const WHOLE: ResultType = ResultType::COMPLETE;

/// A server for the agent and a client of the Mnemic server.
struct Bridge {
    server: Peer<RoleClient>,
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("mnemic", env!("CARGO_PKG_VERSION")).with_title("Mnemic");
        let server = self.server.peer_info();
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        // A server of an earlier version has no prompts or no resources.
        capabilities.prompts = server.as_ref().and_then(|it| it.capabilities.prompts.clone());
        capabilities.resources = server.as_ref().and_then(|it| it.capabilities.resources.clone());
        let config = ServerConfig::new(capabilities).with_server_info(implementation);
        match server.and_then(|it| it.instructions.clone()) {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(page).await.map_err(protocol_error)?;
        listed.result_type = Some(WHOLE);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.server.call_tool(call).await {
            Ok(mut result) => {
                result.result_type = Some(WHOLE);
                Ok(result.into())
            }
            Err(ServiceError::McpError(error)) => Err(error),
            // The model gets the error, because it may try again.
            Err(error) => {
                Ok(CallToolResult::error(vec![ContentBlock::text(unreachable_server_message(&error))]).into())
            }
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.server.list_resources(page).await.map_err(protocol_error)?;
        listed.result_type = Some(WHOLE);
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self
            .server
            .list_resource_templates(page)
            .await
            .map_err(protocol_error)?;
        listed.result_type = Some(WHOLE);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let mut read = self.server.read_resource(request).await.map_err(protocol_error)?;
        read.result_type = Some(WHOLE);
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut listed = self.server.list_prompts(page).await.map_err(protocol_error)?;
        listed.result_type = Some(WHOLE);
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let mut prompt = self.server.get_prompt(request).await.map_err(protocol_error)?;
        prompt.result_type = Some(WHOLE);
        Ok(prompt.into())
    }
}

/// Returns the protocol error of the server, or an error that says that the server does not answer.
fn protocol_error(error: ServiceError) -> ErrorData {
    if let ServiceError::McpError(error) = error {
        return error;
    }
    ErrorData::internal_error(unreachable_server_message(&error), None)
}

/// Returns the message about a call without a response. Of the causes, it names only the innermost: the others are
/// types of the library.
fn unreachable_server_message(error: &ServiceError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let cause = cause.to_string();
    let cause = cause.strip_prefix("Client error: ").unwrap_or(&cause);
    format!(
        "the memory does not answer, and this call may not have been carried out; is `mnemic serve` running? Make the \
         call again once it runs ({cause})"
    )
}
