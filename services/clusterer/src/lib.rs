//! The clusterer organises what the writer wrote, space by space: who and what is spoken of, what is said of them, which
//! events are one, what they are about, and the pages on which all that can be read.
//!
//! It consumes `UnitsOrganisedV1` only as a sign to catch up: the state of a space is counted from the changes of its units,
//! kept in memory, and counted again after a restart. So all that is derived depends on the units and curations alone, never
//! on the order or the number of deliveries. Start at [`Memory`] (units to all that is derived, pure); `follow` does the I/O
//! around it.
//!
//! Where a language model is set up for it, `coreference_worker` asks it about pairs of events and of names of which the rules
//! are unsure, what topics are called, and what pages say in short. What it says is stored as a reading, and counts like units
//! and curations.

use std::sync::Arc;

use cache::Cache;
use coreference_worker::{CoreferenceWorker, Model};
use domain::message::UnitsOrganisedV1;
use follow::Follower;
use futures::future::BoxFuture;
use host::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod acts;
mod ask_model;
mod cache;
mod changed;
mod coreference;
mod coreference_call;
mod coreference_readings;
mod coreference_worker;
mod entities;
mod error;
mod events;
#[cfg(test)]
mod example;
mod facts;
mod follow;
mod grounding;
mod label_call;
mod label_readings;
mod labels;
mod looked_up;
mod lookups;
mod memory;
mod model_sentence;
mod named;
mod pages;
mod people;
mod people_call;
mod schema;
mod small_map;
mod stored;
mod summaries;
mod summary_call;
mod topics;

pub use acts::Acts;
pub use changed::Changed;
pub use coreference::{Pair, Question, Verdict, pair_digest};
pub use coreference_worker::ReadingConfig;
pub use entities::Entities;
pub use error::Error;
pub use events::Events;
pub use facts::Facts;
pub use labels::{LabelPlace, LabelQuestion, TopicLabel, label_digest};
pub use looked_up::Place;
pub use memory::Memory;
pub use named::Named;
pub use pages::Pages;
pub use people::{AskedName, MentionedName, NamePair, PeoplePlace, PeopleQuestion, PeopleVerdict};
pub use summaries::{PageSummary, ShownLine, ShownSection, SummaryPlace, SummaryQuestion, page_output};
pub use topics::Topics;

/// Settings in `[clusterer]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Messages handled at once; those of one space wait for each other.
    pub in_flight_max: usize,
    /// Spaces whose counts are kept in memory; others are counted again when they change.
    pub spaces_max: usize,
    /// Megabytes that the counts of all of these take together, as estimated from their units and facts. The space that changed
    /// last is kept however large it is: it was held whole to be counted.
    pub memory_mb: usize,
    /// How a language model judges events, labels topics and sums up pages.
    pub readings: ReadingConfig,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            in_flight_max: 16,
            spaces_max: 64,
            memory_mb: 1_024,
            readings: ReadingConfig::default(),
        }
    }
}

/// Follows what is written until shutdown.
///
/// # Errors
/// Wrong settings in `[clusterer]` or `[consumer]`.
pub fn run(ctx: Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed: an opaque future would be compiled by every crate that polls it.
    Box::pin(follow_all(ctx))
}

async fn follow_all(ctx: Context) -> anyhow::Result<()> {
    let config: Config = ctx.section("clusterer")?;
    let model = Model::of(&ctx, &config.readings);
    let follower = Arc::new(Follower::new(
        ctx.backends.clone(),
        Cache::new(config.spaces_max, config.memory_mb.saturating_mul(1 << 20)),
        model.is_some(),
    ));
    let followed = ctx.consume("clusterer", config.in_flight_max, |message: UnitsOrganisedV1, _| {
        let follower = Arc::clone(&follower);
        async move { follower.follow(&message).await }
    });
    let judged = async {
        if let Some(model) = model {
            let worker = CoreferenceWorker::new(&ctx, &follower, model, &config.readings);
            worker.run().await;
        }
        Ok(())
    };
    tokio::try_join!(followed, judged)?;
    Ok(())
}
