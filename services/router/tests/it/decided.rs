//! The router reads acts if there are new ones, not after every change of a space.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::curation::{Act, Curation};
use domain::id::CurationId;
use domain::port::Position;
use host::Context;
use router::{Config, Router};
use tracing::Subscriber;
use tracing::field::Field;
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{self, Layer, SubscriberExt};

use crate::stores::{moment, put};
use crate::talk::{packed, request, space, units};

/// Counts how often acts are read, from the trace of the store.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl<S: Subscriber> Layer<S> for Counting {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: layer::Context<'_, S>) {
        let mut count = |field: &Field, value: &dyn Debug| {
            if field.name() == "operation" && format!("{value:?}").contains("records.curations") {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        };
        span.record(&mut count);
    }
}

pub(crate) fn act(number: u8, act: Act) -> Curation {
    Curation {
        id: CurationId::from_external_id(&space(), &number.to_string()),
        at: moment(i64::from(number)),
        by: String::new(),
        act,
        reason: String::new(),
    }
}

#[tokio::test]
async fn acts_are_read_only_when_there_are_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let ctx = Context::embedded_with_defaults(dir.path()).await.unwrap();
    let own = &ctx.backends.records;
    own.create_space(&space(), moment(0)).await.unwrap();
    let counting = Counting::default();
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(counting.clone()));
    let router = Router::new(ctx.backends.clone(), Config::default()).unwrap();
    let all = units();
    let asked = request("What did Omar make in pottery classes?", 200);
    let reads_acts = async || {
        // A parallel test may have registered the call site first, when nobody subscribed to it.
        tracing::callsite::rebuild_interest_cache();
        packed(&router.route_question(asked.clone()).await.unwrap()).contains(&"r6")
    };
    let read = || counting.0.load(Ordering::SeqCst);

    put(&ctx, &all[..6]).await;
    let forget = Act::ForgetUnit { unit: all[6].id };
    own.put_curations(&space(), Position(1), &[act(1, forget)])
        .await
        .unwrap();
    assert!(!reads_acts().await);
    assert_eq!(read(), 1);
    put(&ctx, &all[6..]).await;
    assert!(!reads_acts().await, "decided before it came");
    assert_eq!(read(), 1, "no act came");
    let undo = Act::Undo {
        curation: act(1, Act::PinUnit { unit: all[0].id }).id,
    };
    own.put_curations(&space(), Position(2), &[act(2, undo)]).await.unwrap();
    assert!(reads_acts().await);
    assert_eq!(read(), 2);
}
