//! A gateway in its own directory, and the services that a test needs.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request as HttpRequest, Response as HttpResponse, StatusCode, header};
use domain::PortError;
use domain::anchor::Anchors;
use domain::curation::Act;
use domain::evidence::{EvidencePack, Sufficiency, Verdict};
use domain::message::{AnswerV1, AnsweredV1, Message, RecordsAcceptedV1, Request, RouteV1, RoutedV1};
use fixtures::wait_until;
use host::{Context, Settings};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;

/// A gateway; its directory is removed on drop.
pub(crate) struct Gateway {
    pub(crate) context: Context,
    pub(crate) dir: Arc<TempDir>,
    app: Router,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    /// Returns the body as JSON; null if there is none.
    pub(crate) fn json(&self) -> Value {
        if self.text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&self.text).unwrap()
        }
    }

    /// Checks that the body is a complete problem document and returns `status detail`.
    pub(crate) fn problem(&self) -> String {
        let body = self.json();
        assert_eq!(
            self.headers[header::CONTENT_TYPE],
            "application/problem+json",
            "{self:?}"
        );
        assert_eq!(body["status"], self.status.as_u16(), "{self:?}");
        for field in ["type", "title", "detail"] {
            assert!(
                body[field].as_str().is_some_and(|it| !it.is_empty()),
                "{field} in {self:?}"
            );
        }
        let code = body["type"].as_str().unwrap().rsplit(':').next().unwrap();
        let help = body["help"].as_str().unwrap_or_default();
        assert!(help.ends_with(&format!("docs/ERRORS.md#{code}")), "{self:?}");
        format!("{} {}", self.status.as_u16(), body["detail"].as_str().unwrap())
    }
}

impl Gateway {
    pub(crate) async fn new() -> Gateway {
        Gateway::with("").await
    }

    /// Returns a gateway with settings in TOML and the space `s`.
    pub(crate) async fn with(settings: &str) -> Gateway {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings::from_toml(settings, "test").unwrap();
        let context = Context::embedded_with(dir.path(), settings).await.unwrap();
        let app = gateway::build_router(context.clone()).unwrap();
        context
            .backends
            .records
            .create_space(&"s".parse().unwrap(), host::clock::now())
            .await
            .unwrap();
        Gateway {
            context,
            app,
            dir: Arc::new(dir),
        }
    }

    /// Returns another gateway over the same stores, with its own settings.
    pub(crate) fn another(&self, settings: &str) -> Gateway {
        let mut context = self.context.clone();
        context.settings = Arc::new(Settings::from_toml(settings, "test").unwrap());
        self.in_context(context)
    }

    /// Returns another gateway over the same folder, with its own context.
    pub(crate) fn in_context(&self, context: Context) -> Gateway {
        Gateway {
            app: gateway::build_router(context.clone()).unwrap(),
            context,
            dir: Arc::clone(&self.dir),
        }
    }

    /// Sends a request like [`Gateway::send`], with a key.
    pub(crate) async fn send_as(&self, key: &str, call: &str, body: &str) -> Reply {
        let authorization = format!("Bearer {key}");
        self.send_with(call, body, &[("authorization", &authorization)]).await
    }

    /// Sends `METHOD path` with a JSON body; without a body if it is empty.
    pub(crate) async fn send(&self, call: &str, body: &str) -> Reply {
        self.send_with(call, body, &[]).await
    }

    pub(crate) async fn send_with(&self, call: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let (method, path) = call.split_once(' ').unwrap();
        let mut request = HttpRequest::builder().method(method).uri(path);
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.raw(request.body(Body::from(body.to_owned())).unwrap()).await
    }

    /// Returns the response with an unread body.
    pub(crate) async fn response(&self, request: HttpRequest<Body>) -> HttpResponse<Body> {
        self.app.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn raw(&self, request: HttpRequest<Body>) -> Reply {
        let response = self.response(request).await;
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        Reply {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// Starts a writer that only stores records and acts, erases records and marks batches.
    pub(crate) fn start_writer(&self) {
        let context = self.context.clone();
        tokio::spawn(async move {
            let records = context.backends.records.clone();
            let handle = async |message: RecordsAcceptedV1, meta: host::Meta| {
                records.put(&message.space, &message.records).await?;
                records
                    .put_curations(&message.space, meta.position, &message.curations)
                    .await?;
                for it in &message.curations {
                    if let Act::EraseRecord { record } = it.act {
                        records.erase(&message.space, &[record]).await?;
                    }
                }
                records.mark_written(&message.space, meta.position).await
            };
            context
                .consume_messages::<_, PortError, _, _>("writer", 4, handle)
                .await
                .unwrap();
        });
    }

    /// Starts a router that returns the result of `route`.
    pub(crate) fn start_router(&self, route: fn(RouteV1) -> RoutedV1) {
        self.serve(route);
    }

    /// Answers requests of one kind.
    pub(crate) fn serve<R: Request>(&self, answer: fn(R) -> R::Reply) {
        let context = self.context.clone();
        tokio::spawn(async move {
            context
                .serve_requests::<R, PortError, _, _>(4, async |it| Ok(answer(it)))
                .await
                .unwrap();
        });
    }

    /// Receives requests of one kind and never answers them.
    pub(crate) fn never<R: Request>(&self) {
        let context = self.context.clone();
        tokio::spawn(async move {
            let answer = async |_: R| std::future::pending::<Result<R::Reply, PortError>>().await;
            context.serve_requests::<R, PortError, _, _>(4, answer).await.unwrap();
        });
    }

    /// Starts a reader that judges every question as supported.
    pub(crate) fn start_reader(&self) {
        let context = self.context.clone();
        tokio::spawn(async move {
            let answer = async |_: AnswerV1| {
                let verdict = Verdict {
                    status: Sufficiency::Supported,
                    code: None,
                    reasons: vec!["seen".into()],
                    nearest: Vec::new(),
                };
                Ok(AnsweredV1::new(verdict, None))
            };
            context
                .serve_requests::<AnswerV1, PortError, _, _>(4, answer)
                .await
                .unwrap();
        });
    }

    /// Waits for a write through the API; long enough for a loaded machine.
    pub(crate) async fn written(&self, watermark: &str) {
        let call = format!("GET /v1/spaces/s/progress?watermark={watermark}&wait_ms=20000");
        let reply = self.send(&call, "").await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    }

    /// Waits until the writer has settled every accepted batch, which it does a little after the write is searchable.
    pub(crate) async fn drained(&self) {
        let (bus, subject) = (&self.context.backends.bus, RecordsAcceptedV1::SUBJECT);
        let is_drained = async || bus.unsettled(subject, "s", 1).await.unwrap().is_empty();
        wait_until("every batch is settled", is_drained).await;
    }

    /// Waits until the started services are ready.
    pub(crate) async fn settled(&self) {
        let is_ready = async || self.context.readiness.missing_components().is_empty();
        wait_until("the services are ready", is_ready).await;
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.context.shutdown.cancel();
    }
}

/// Returns an empty answer of the router.
pub(crate) fn nothing(request: RouteV1) -> RoutedV1 {
    RoutedV1 {
        reading: None,
        anchors: Anchors {
            bare: request.question,
            ..Anchors::default()
        },
        pack: EvidencePack {
            items: Vec::new(),
            tokens: 0,
            budget: request.tokens,
        },
        speakers: Vec::new(),
        words: Vec::new(),
        scenes: Vec::new(),
        ranked: Vec::new(),
        explained: Vec::new(),
        units: 0,
        candidates: 0,
        weights: "test".into(),
        steps: vec![("rank".into(), 0.5)],
        degraded: Vec::new(),
        degraded_codes: Vec::new(),
    }
}
