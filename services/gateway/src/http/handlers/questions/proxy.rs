use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use tracing::{Instrument, info_span};

use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::request_time_limit::Patience;
use crate::app::state::{App, Upstream};
use crate::http::edge::TraceId;
use crate::http::extract::json_bytes;
use crate::http::handlers::content::records::idempotency_key;
use crate::proxy::{self, Call, ChatRequest, Refusal};

/// Time in milliseconds that a chat may take in addition to its reply: for evidence, and for storing records.
const BESIDE_MS: u64 = 10_000;

/// Forwards a chat completion to the language model of this server, together with evidence from the memory for the last
/// message, and stores the conversation (`[gateway.proxy]`; off by default).
///
/// Fields are those of OpenAI's API and are forwarded unchanged; with `"stream": true` the reply comes as server-sent
/// events. Errors have the shape of that API, `{"error": {"message", "type", "param", "code"}}`; errors of the endpoint
/// are returned unchanged.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "proxy",
    request_body(content = Object, example = json!({"model": "qwen3:8b", "user": "ann", "messages": [{"role": "user", "content": "What do I bring to Oona on Friday?"}]})),
    params(
        ("X-Mnemic-Space" = Option<String>, Header, description = "The space; without it, `[gateway.proxy] space_prefix` followed by `user` of the body"),
        ("X-Mnemic-Session" = Option<String>, Header, description = "Name of the session in which the chat is stored; default: `default`", max_length = 256),
        ("Idempotency-Key" = Option<String>, Header, description = "Chats with the same key are stored once", max_length = 256, pattern = "^[!-~]([ -~]*[!-~])?$"),
    ), responses(
    (status = 200, description = "The unchanged reply of the language model", content((Object = "application/json"), (String = "text/event-stream")),
        headers(
            ("x-mnemic-space" = String, description = "The space"),
            ("x-mnemic-evidence" = String, description = "`lines=N tokens=M`, or `none; ` and the reason"),
            ("x-mnemic-stored" = String, description = "`user,assistant` as far as it is known, or `none; ` and the reason"),
        )),
    (status = 400, description = "The request is invalid, or names no space", body = Object),
    (status = 401, description = "A valid key is needed", body = Object),
    (status = 403, description = "The key does not open the space, or may not read", body = Object),
    (status = 404, description = "The proxy is off", body = Object),
    (status = 429, description = "Too many chats are being forwarded, or the key has too many requests or no quota left", body = Object),
    (status = 502, description = "The language model cannot be reached, or its reply ended too early", body = Object),
    (status = 504, description = "The language model did not reply in time", body = Object),
))]
pub(crate) async fn chat_completions(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Extension(TraceId(trace_id)): Extension<TraceId>,
    Extension(patience): Extension<Patience>,
    request: Request,
) -> Result<Response, Problem> {
    let upstream = require_upstream(&app)?;
    patience.extend_limit(app.config.proxy.timeout_ms.saturating_add(BESIDE_MS));
    let work = async {
        let headers = request.headers().clone();
        let key = idempotency_key(&headers)?.map(str::to_owned);
        let body = json_bytes(request, &app).await?;
        let read = tokio::task::spawn_blocking(move || ChatRequest::from_body(&body)).await;
        let request = read.unwrap_or_else(|_| Err(Problem::internal_error().into()))?;
        let call = Call {
            access,
            request,
            headers,
            key,
            trace_id,
        };
        proxy::forward_chat(&app, upstream, call).await
    };
    let outcome = work.instrument(info_span!("chat_completions")).await;
    Ok(outcome.unwrap_or_else(|refusal: Refusal| refusal.into_response()))
}

/// Lists the models that chat completions may name, in the shape of OpenAI's API: those of the endpoint, or the
/// configured one.
#[utoipa::path(get, path = "/v1/models", tag = "proxy", responses(
    (status = 200, description = "The models", body = Object),
    (status = 401, description = "A valid key is needed", body = Object),
    (status = 403, description = "The key may not read", body = Object),
    (status = 404, description = "The proxy is off", body = Object),
    (status = 429, description = "Too many requests", body = Object),
    (status = 502, description = "The language model cannot be reached", body = Object),
))]
pub(crate) async fn models(State(app): State<App>, Extension(access): Extension<Access>) -> Result<Response, Problem> {
    let upstream = require_upstream(&app)?;
    let outcome = match access.require_right(Right::Read) {
        Ok(()) => proxy::list_models(&app, upstream).await,
        Err(problem) => Err(problem.into()),
    };
    Ok(outcome.unwrap_or_else(|refusal: Refusal| refusal.into_response()))
}

fn require_upstream(app: &App) -> Result<&Upstream, Problem> {
    app.upstream.as_ref().ok_or_else(|| {
        Problem::not_found(
            "the proxy with memory is off; `[gateway.proxy] enabled = true` switches it on, with `url` there or in \
             [language_model] set to the endpoint of the language model",
        )
    })
}
