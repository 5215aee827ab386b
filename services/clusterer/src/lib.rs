//! The clusterer derives, for each space, the things that can only be known from all of its units: entities, facts,
//! merges of events, topics, and the pages that present them.
//!
//! `UnitsOrganisedV1` only tells the clusterer that a space has changed. The state of a space is computed from the
//! changes of its units, kept in memory, and computed again after a restart. Derived data therefore depends only on
//! units and curations, never on the order or the number of deliveries. Start at [`Memory`] (pure: from units to
//! derived data); `follower` does the I/O around it.
//!
//! If a language model is configured, `follower::model_worker` asks it about pairs of events and pairs of names that
//! the rules cannot decide, about topic labels, and about page summaries. Each reply is stored as a reading and then
//! counts as an input, like units and curations. `judgements` says what the model is shown and how much of a reply
//! counts (pure).

use std::sync::Arc;

use domain::message::UnitsOrganisedV1;
use follower::Follower;
use follower::model_worker::coreference_worker::{CoreferenceWorker, Model};
use futures::future::BoxFuture;
use host::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod entities;
mod events;
mod facts;
mod follower;
mod judgements;
mod pages;
mod space;
mod topics;
mod word_lists;

pub use entities::Entities;
pub use events::Events;
pub use facts::Facts;
pub use follower::memory::Memory;
pub use follower::model_worker::coreference_worker::ReadingConfig;
pub use judgements::coreference::{Pair, PairJudgement, Question, pair_digest};
pub use judgements::labels::{LabelQuestion, LabelSubject, TopicLabel, label_digest};
pub use judgements::people::{AskedName, MentionedName, NamePair, PeopleJudgement, PeopleQuestion, PeopleSubject};
pub use judgements::reading_lookup::ReadingSubject;
pub use judgements::summaries::{PageSummary, ShownLine, ShownSection, SummaryQuestion, SummarySubject, page_output};
pub use pages::Pages;
pub use space::acts::Acts;
pub use space::changes::ChangedObjects;
pub use space::error::Error;
pub use space::named_entity::NamedEntity;
pub use space::spill_file::SpillFile;
pub use topics::Topics;

/// Settings in `[clusterer]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of messages handled concurrently; messages of one space are handled one after another.
    pub in_flight_max: usize,
    /// Number of spaces whose state is kept in memory. The state of any other space is computed again when that space
    /// changes.
    pub spaces_max: usize,
    /// Limit in megabytes on the state of all these spaces, as estimated from their units and facts. If a space takes
    /// more than a quarter of it, what is not in use is moved to a temporary file. The most recently changed space is
    /// always kept, even if it alone exceeds this limit.
    pub memory_mb: usize,
    /// Settings of the language model that judges events, labels topics and summarises pages.
    pub readings: ReadingConfig,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            in_flight_max: 16,
            spaces_max: 1_024,
            memory_mb: 1_024,
            readings: ReadingConfig::default(),
        }
    }
}

/// Keeps derived data up to date until shutdown.
///
/// # Errors
/// Returns an error if the settings in `[clusterer]` or `[consumer]` are invalid.
pub fn run(ctx: Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed, because each crate that polls an opaque future would compile it again.
    Box::pin(follow_all(ctx))
}

async fn follow_all(ctx: Context) -> anyhow::Result<()> {
    let config: Config = ctx.read_section("clusterer")?;
    let model = Model::from_context(&ctx, &config.readings);
    let follower = Arc::new(Follower::new(
        ctx.backends.clone(),
        config.spaces_max,
        config.memory_mb.saturating_mul(1 << 20),
        model.is_some(),
    ));
    let followed = ctx.consume_messages("clusterer", config.in_flight_max, |message: UnitsOrganisedV1, _| {
        let follower = Arc::clone(&follower);
        async move { follower.follow_message(&message).await }
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
