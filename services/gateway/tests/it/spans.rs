//! What the spans of requests say.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fixtures::wait_until;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::harness::Gateway;

/// Collects the fields of every new span, each as `name=value`.
#[derive(Clone, Default)]
struct SpanFields {
    fields: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
}

impl Visit for SpanFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.lock().unwrap().push(format!("{field}={value:?}"));
    }
}

impl Subscriber for SpanFields {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn the_span_of_a_request_has_no_text_that_the_caller_chose() {
    let gateway = Gateway::new().await;
    let spans = SpanFields::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
    wait_until("the span of a request is seen", async || {
        // A test in another thread, without this subscriber, may have registered the span as disabled.
        tracing::callsite::rebuild_interest_cache();
        gateway.send("QUAXBANK /v1/spaces/s?tag=Quaxbank", "").await;
        let fields = spans.fields.lock().unwrap();
        fields.iter().any(|it| it.starts_with("otel.name="))
    })
    .await;
    let fields = spans.fields.lock().unwrap();
    assert!(
        !fields.iter().any(|it| it.to_ascii_lowercase().contains("quaxbank")),
        "{fields:?}"
    );
}
