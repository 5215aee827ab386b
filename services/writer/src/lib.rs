//! The writer turns accepted records into units. It immediately writes the searchable turn units of each record. Then,
//! independently of the intake, it derives event units and relations of the changed sessions.
//!
//! Start at [`write_turn_units`] (records to turn units, pure) and [`derive_segments`] (a stretch of a session to
//! events and relations, pure); `intake` and `erasure` do the I/O around them. The consumers of accepted records and of
//! written units may receive a message twice and in any order. Ids derive from records, and data that depends on
//! neighbours is derived again from the stored records of the session, so the stores end up the same. The writer never
//! judges what is true.
//!
//! If a language model is configured, `session_reading` then has it read passages of sessions, and `reading` derives
//! gists, relations and facts from its replies (pure). Before that, `pictures` has the model describe the pictures of
//! records, and adds the resulting captions to records. Everything derived from a record includes them.

use std::sync::Arc;

use domain::message::{RecordsAcceptedV1, UnitsOrganisedV1, UnitsWrittenV1};
use erasure::dead_letters::LetterSweep;
use futures::future::BoxFuture;
use host::{Context, PictureOptions};
use intake::organise::Organiser;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use session_reading::picture_reader::PictureReader;
use session_reading::reading_worker::ReadingWorker;

mod erasure;
mod error;
mod intake;
mod pictures;
mod reading;
mod segments;
mod session_reading;
mod store_access;
mod units;
mod word_lists;

pub use crate::segments::stretch::Stretch;
pub use crate::session_reading::reading_config::ReadingConfig;
pub use error::Error;
pub use segments::segment::{MARGIN, Plan, Segments, derive_segments, plan_segments};
pub use units::points::{embedded_texts, points_of};
pub use units::turn_units::{RULES, units_of, write_turn_units};

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

impl Config {
    /// Checks that the limits can work.
    ///
    /// # Errors
    /// Returns an error that names the setting that is out of its bounds.
    pub fn check_settings(&self) -> anyhow::Result<()> {
        self.readings.check_settings()
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
    let config: Config = ctx.read_section("writer")?;
    config.check_settings()?;
    let organiser = Arc::new(Organiser::new(ctx.backends.clone()));
    let pictures = PictureReader::new(&ctx, &config.readings, &config.pictures, Arc::clone(&organiser))?;
    let worker = ReadingWorker::new(&ctx, &config.readings, pictures);
    let accept = |message: RecordsAcceptedV1, meta| intake::batch_intake::accept_batch(&ctx, message, meta);
    let sweep = LetterSweep::default();
    let given_up = |letter| sweep.given_up(&ctx.backends, letter);
    let group = RecordsAcceptedV1::GROUP;
    let accepted = ctx.consume_burying(group, config.in_flight_max, accept, given_up);
    let written = ctx.consume_messages("segmenter", config.organised_max, |message: UnitsWrittenV1, _| {
        let (organiser, worker, ctx) = (&organiser, &worker, &ctx);
        async move {
            let organised = UnitsOrganisedV1 {
                space: message.space.clone(),
                position: message.position,
                acts: message.acts,
                reading: String::new(),
            };
            let sessions = message.sessions.clone();
            Arc::clone(organiser).organise_message(message).await?;
            worker.schedule_sessions(&organised.space, &sessions).await?;
            ctx.publish_message(&organised).await?;
            Ok::<(), Error>(())
        }
    });
    let read = async {
        worker.run_workers().await;
        Ok(())
    };
    let swept = async {
        sweep.run(&ctx).await;
        Ok(())
    };
    tokio::try_join!(accepted, written, read, swept)?;
    Ok(())
}
