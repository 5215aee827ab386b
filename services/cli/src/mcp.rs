use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use domain::id::SpaceId;
use rmcp::ServiceExt;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, stdio};

use crate::api::{Client, Error};
use crate::args::{Local, Mcp};
use crate::{Outcome, config, out, serve};

/// Passes on what an agent asks over standard input and output, until it closes them.
pub(crate) async fn mcp(args: &Mcp) -> anyhow::Result<Outcome> {
    speak(&args.remote.url, args.remote.key.as_ref(), &args.space).await?;
    Ok(Outcome::Done)
}

/// Does the same without a server, over the memory in a folder, which this process serves meanwhile.
pub(crate) fn alone(args: &Mcp, data: &Path) -> ExitCode {
    let space = &args.space;
    let local = Local {
        config: args.config.clone(),
        data: None,
    };
    let prepared = serve::settings(&local).and_then(|mut settings| {
        // Only this process calls it, and it serves files whatever the settings name.
        settings.set("gateway.keys", Vec::<String>::new())?;
        settings.set("backends.kind", "embedded")?;
        let url = serve::apart(&mut settings, data)?;
        config::check_weights(&settings)?;
        Ok((settings, url))
    });
    let (settings, url) = match prepared {
        Ok(it) => it,
        Err(error) => {
            out::complain(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    host::standalone(settings, async |ctx| {
        let listen = async {
            let heard = tokio::select! {
                heard = async { if serve::up(&ctx).await { speak(&url, None, space).await } else { Ok(()) } } => heard,
                () = ctx.shutdown.cancelled() => Ok(()),
            };
            ctx.shutdown.cancel();
            heard
        };
        tokio::try_join!(serve::services(ctx.clone()), listen)?;
        Ok(())
    })
}

/// Stands between the agent and a server until the agent closes its side.
async fn speak(server: &str, key: Option<&String>, space: &SpaceId) -> anyhow::Result<()> {
    let client = Client::new(server, key.cloned())?;
    ready(&client, space).await?;
    let url = client.url(&["v1", "spaces", space.as_str(), "mcp"], &[]);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    if let Some(key) = key {
        config = config.auth_header(key);
    }
    let named = Implementation::new("mnemic", env!("CARGO_PKG_VERSION"));
    let server = ClientConfig::new(ClientCapabilities::default(), named)
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

/// Creates the space if it is missing; a key that may not write reads what there is. Fails if there is nothing to read.
async fn ready(client: &Client, space: &SpaceId) -> anyhow::Result<()> {
    let refused = match client.create(space).await {
        Ok(_) => None,
        Err(error @ Error::Refused { status: 403, .. }) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let read = client.space(space).await;
    read.map_err(|error| refused.unwrap_or(error))
        .with_context(|| format!("the space `{space}` cannot be read"))?;
    Ok(())
}

/// A server on this side, a client on the other.
struct Bridge {
    server: Peer<RoleClient>,
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let named = Implementation::new("mnemic", env!("CARGO_PKG_VERSION")).with_title("Mnemic");
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(named);
        match self.server.peer_info().and_then(|it| it.instructions.clone()) {
            Some(instructions) => config.with_instructions(instructions),
            None => config,
        }
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match self.server.list_tools(page).await {
            Ok(listed) => Ok(listed),
            Err(ServiceError::McpError(error)) => Err(error),
            Err(error) => Err(ErrorData::internal_error(away(&error), None)),
        }
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.server.call_tool(call).await {
            Ok(result) => Ok(result.into()),
            Err(ServiceError::McpError(error)) => Err(error),
            // The model may try again, so it is told.
            Err(error) => Ok(CallToolResult::error(vec![ContentBlock::text(away(&error))]).into()),
        }
    }
}

fn away(error: &ServiceError) -> String {
    format!("the memory does not answer, nothing was lost; is `mnemic serve` running? ({error})")
}
