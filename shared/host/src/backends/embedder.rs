//! Opens the embedder: the built-in word table, a sentence encoder in this process, or an endpoint.

use std::sync::Arc;
use std::time::Duration;

use adapters::models::endpoint::EndpointError;
use adapters::models::endpoint::embeddings::{Embeddings, Options};
use anyhow::{Context, ensure};
use domain::port::Embedder;
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::Config;
use crate::Settings;
use crate::circuit_breaker::CircuitBreakers;
use crate::circuit_breaker::embedder::Watched;

/// How long startup waits for an endpoint, which may be starting too.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_secs(2);

/// Opens the embedder that the settings name, with the guard that watches it.
///
/// # Errors
///
/// Wrong settings; an unusable encoder; an endpoint that cannot be reached within a minute, or refuses.
pub(crate) async fn open_embedder(settings: &Settings) -> anyhow::Result<(Arc<dyn Embedder>, CircuitBreakers)> {
    let encoder = settings.read_section::<Config>("backends")?.encoder;
    let options: Options = settings.read_section("embeddings")?;
    if !options.url.is_empty() {
        ensure!(
            encoder.as_os_str().is_empty(),
            "`encoder` in [backends] and `url` in [embeddings] exclude each other: leave one of them out"
        );
        let watched = Watched::new(Arc::new(connect_with_retries(&options).await?));
        let guards = CircuitBreakers::new(vec![watched.guard()]);
        return Ok((log_sentence_encoder(Arc::new(watched)), guards));
    }
    let opened = tokio::task::spawn_blocking(move || adapters::open_embedder(&encoder)).await?;
    let embedder = opened.context("[backends] encoder")?;
    Ok((log_sentence_encoder(embedder), CircuitBreakers::default()))
}

async fn connect_with_retries(options: &Options) -> Result<Embeddings, EndpointError> {
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

fn log_sentence_encoder(embedder: Arc<dyn Embedder>) -> Arc<dyn Embedder> {
    if embedder.reads_sentences() {
        let (model, dimension) = (embedder.model(), embedder.dimension());
        info!(model, dimension, "embeds with a sentence encoder");
    }
    embedder
}
