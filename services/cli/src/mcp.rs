use anyhow::Context as _;
use rmcp::ServiceExt;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, stdio};

use crate::Outcome;
use crate::api::{Client, Error};
use crate::args::Mcp;

/// Passes on what an agent asks over standard input and output, until it closes them.
pub(crate) async fn mcp(args: &Mcp) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    ready(&client, args).await?;
    let url = client.url(&["v1", "spaces", args.space.as_str(), "mcp"], &[]);
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    if let Some(key) = &args.remote.key {
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
    Ok(Outcome::Done)
}

/// Creates the space if it is missing; a key that may not write reads what there is. Fails if there is nothing to read.
async fn ready(client: &Client, args: &Mcp) -> anyhow::Result<()> {
    let refused = match client.create(&args.space).await {
        Ok(_) => None,
        Err(error @ Error::Refused { status: 403, .. }) => Some(error),
        Err(error) => return Err(error.into()),
    };
    let read = Client::new(&args.remote.url, args.remote.key.clone())?
        .space(&args.space)
        .await;
    read.map_err(|error| refused.unwrap_or(error))
        .with_context(|| format!("the space `{}` cannot be read", args.space))?;
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
