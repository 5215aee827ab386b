//! Opens the embedder: the built-in word table, a sentence encoder in this process, or an endpoint.

use std::sync::Arc;
use std::time::Duration;

use adapters::endpoint::EndpointError;
use adapters::endpoint::embeddings::{Embeddings, Options};
use anyhow::{Context, ensure};
use domain::port::Embedder;
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::Config;
use crate::Settings;
use crate::guard::Guards;
use crate::guard::embedder::Watched;

/// How long startup waits for an endpoint, which may be starting too.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(2);

/// Opens the embedder that the settings name, with the guard that watches it.
///
/// # Errors
///
/// Wrong settings; an unusable encoder; an endpoint that cannot be reached within a minute, or refuses.
pub(crate) async fn open(settings: &Settings) -> anyhow::Result<(Arc<dyn Embedder>, Guards)> {
    let encoder = settings.section::<Config>("backends")?.encoder;
    let options: Options = settings.section("embeddings")?;
    if !options.url.is_empty() {
        ensure!(
            encoder.as_os_str().is_empty(),
            "`encoder` in [backends] and `url` in [embeddings] exclude each other: leave one of them out"
        );
        let watched = Watched::new(Arc::new(reach(&options).await?));
        let guards = Guards::new(vec![watched.guard()]);
        return Ok((told(Arc::new(watched)), guards));
    }
    let opened = tokio::task::spawn_blocking(move || adapters::embedder(&encoder)).await?;
    let embedder = opened.context("[backends] encoder")?;
    Ok((told(embedder), Guards::default()))
}

async fn reach(options: &Options) -> Result<Embeddings, EndpointError> {
    let begun = Instant::now();
    loop {
        match Embeddings::connect(options).await {
            Err(error) if error.may_be_starting() && begun.elapsed() < PATIENCE => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    "cannot embed yet, will try again"
                );
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

fn told(embedder: Arc<dyn Embedder>) -> Arc<dyn Embedder> {
    if embedder.reads_sentences() {
        let (model, dimension) = (embedder.model(), embedder.dimension());
        info!(model, dimension, "embeds with a sentence encoder");
    }
    embedder
}
