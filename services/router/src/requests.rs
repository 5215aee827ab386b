//! The service of the router: the requests that it answers over the bus.

use domain::message::{RecallV1, RouteV1, ToolV1, ToolsV1};
use futures::future::BoxFuture;
use host::Context;

use crate::error::Error;
use crate::service::{Config, Router};
use crate::tools::tool_catalogue;

/// Serves questions, calls of tools and messages until shutdown.
///
/// # Errors
/// Fails if the settings or the weights are invalid.
pub fn run(ctx: Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // The future is boxed, since otherwise every crate that polls the opaque future compiles it again.
    Box::pin(serve_requests(ctx))
}

async fn serve_requests(ctx: Context) -> anyhow::Result<()> {
    let config: Config = ctx.read_section("router")?;
    let router = Router::new(ctx.backends.clone(), config.clone())?;
    let routes = ctx.serve_requests::<RouteV1, Error, _, _>(config.in_flight, |request| router.route_question(request));
    let calls = ctx.serve_requests::<ToolV1, Error, _, _>(config.in_flight, |call| router.call_tool(call));
    let lists = ctx.serve_requests::<ToolsV1, Error, _, _>(config.in_flight, |_| async { Ok(tool_catalogue()) });
    let messages =
        ctx.serve_requests::<RecallV1, Error, _, _>(config.in_flight, |message| router.recall_hints(message));
    let ready = ctx
        .readiness
        .register_component("the router has loaded the most recently written spaces");
    let ahead = async {
        tokio::select! {
            () = ctx.shutdown.cancelled() => Ok(()),
            never = router.read_ahead(&ready) => match never {},
        }
    };
    tokio::try_join!(routes, calls, lists, messages, ahead).map(|_| ())
}
