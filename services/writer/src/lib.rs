//! The writer turns accepted records into units: immediately a searchable turn unit for each record; then,
//! independently of the intake, event units and relations of the changed sessions.
//!
//! Start at [`write()`] (records to turn units, pure) and [`segment()`] (a stretch of a session to events and
//! relations, pure); `accept`, `erase`, `letter` and `organise` do the I/O around them. Both consumers may receive a
//! message twice and in any order. Ids derive from records, and data that depends on neighbours is derived again from
//! the stored records of the session, so the stores end up the same. The writer never judges what is true.
//!
//! If a language model is configured, `reading_worker` then has it read passages of sessions, and `reading` derives
//! gists, relations and facts from its replies (pure). Before that, `picture_worker` has the model describe the
//! pictures of records. `picture_store` adds the resulting captions to records, and everything derived from a record
//! includes them.

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
mod earlier_gists;
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
    /// Number of batches of records written concurrently.
    pub in_flight_max: usize,
    /// Number of batches that may wait to be organised. One space is organised by one task at a time, for all batches
    /// that wait.
    pub organised_max: usize,
    /// Settings of the language model that reads sessions.
    pub readings: ReadingConfig,
    /// Which pictures a language model describes, and the hosts they may come from.
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

/// Writes accepted records until shutdown.
///
/// # Errors
/// Returns an error if the settings in `[writer]` or `[consumer]` are invalid.
pub fn run(ctx: Context) -> BoxFuture<'static, anyhow::Result<()>> {
    // Boxed, because each crate that polls an opaque future would compile it again.
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
