//! The writer turns accepted records into units: at once a searchable turn unit for each record, then, beside the intake,
//! event units and relations of the sessions touched.
//!
//! Start at [`write()`] (records to turn units, pure) and [`segment()`] (a stretch of a session to events and relations,
//! pure); `accept`, `erase`, `letter` and `organise` do the I/O around them. Both consumers may get a message twice or in
//! any order: ids derive from records, what depends on neighbours is derived again from the stored records of the session,
//! and the writer leaves the same store behind. It never judges what is true.
//!
//! Where a language model is set up for it, `reading_worker` has passages of sessions read behind all that, and `reading` derives
//! gists, relations and facts from what the model said (pure). Before that `picture_worker` has the pictures of records described;
//! `picture_store` gives records the captions that came of it, and whatever is derived of a record takes them in.

use std::sync::Arc;

use domain::message::{RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use futures::future::BoxFuture;
use host::{Context, PictureOptions};
use organise::Organiser;
use picture_worker::PictureReader;
use reading_worker::ReadingWorker;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod accept;
mod act;
mod boundary;
mod erase;
mod error;
mod event;
mod letter;
mod long_texts;
mod marker;
mod organise;
mod pattern;
mod picture_call;
mod picture_caption;
mod picture_prompt;
mod picture_store;
mod picture_worker;
mod points;
mod reading;
mod reading_call;
mod reading_store;
mod reading_worker;
mod receipt;
mod redact;
mod relate;
mod scene;
mod segment;
mod session_briefs;
mod session_look;
mod session_marks;
mod speech;
mod state;
mod summary;
mod window;
mod write;

pub use error::Error;
pub use points::{embedded, points_of};
pub use reading_worker::ReadingConfig;
pub use segment::{MARGIN, Plan, Segments, Stretch, plan, segment};
pub use write::{RULES, units_of, write};

/// Settings in `[writer]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Batches of records written at once.
    pub in_flight_max: usize,
    /// Batches that may wait to be organised; one space is organised by one of them at a time, for all that wait.
    pub organised_max: usize,
    /// How a language model reads what is written.
    pub readings: ReadingConfig,
    /// Whose pictures a language model describes, and where they may come from.
    pub pictures: PictureOptions,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            in_flight_max: 8,
            organised_max: 64,
            readings: ReadingConfig::default(),
            pictures: PictureOptions::default(),
        }
    }
}

/// Writes what is accepted until shutdown.
///
/// # Errors
/// Wrong settings in `[writer]` or `[consumer]`.
pub fn run(ctx: Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed: an opaque future would be compiled by every crate that polls it.
    Box::pin(write_all(ctx))
}

async fn write_all(ctx: Context) -> anyhow::Result<()> {
    let config: Config = ctx.section("writer")?;
    let organiser = Arc::new(Organiser::new(ctx.backends.clone()));
    let pictures = PictureReader::new(&ctx, &config.readings, &config.pictures, Arc::clone(&organiser))?;
    let worker = Arc::new(ReadingWorker::new(&ctx, &config.readings, pictures));
    let accept = |message: RecordsAcceptedV1, meta| {
        let ctx = ctx.clone();
        async move { accept::accept(&ctx, message, meta).await }
    };
    let given_up = |letter| letter::given_up(&ctx.backends, letter);
    let group = RecordsAcceptedV1::GROUP;
    let accepted = ctx.consume_burying(group, config.in_flight_max, accept, given_up);
    let written = ctx.consume("segmenter", config.organised_max, |message: UnitsWrittenV1, _| {
        let (organiser, worker, ctx) = (Arc::clone(&organiser), Arc::clone(&worker), ctx.clone());
        async move {
            let organised = UnitsOrganisedV1 {
                space: message.space.clone(),
                position: message.position,
                acts: message.acts,
                reading: String::new(),
            };
            let sessions = message.sessions.clone();
            organiser.organise(message).await?;
            worker.want(&organised.space, &sessions).await?;
            ctx.publish(&organised).await?;
            Ok::<(), Error>(())
        }
    });
    let read = async {
        worker.run().await;
        Ok(())
    };
    tokio::try_join!(accepted, written, read)?;
    Ok(())
}
