//! Checks whether the configured language models reply as expected, and how fast.

use host::Settings;
use host::upkeep::{ModelTrial, TrialOutcome, try_language_models};

use super::Finding;

/// Sends each model one question; returns an empty list if no model is configured.
pub(super) async fn check_models(settings: &Settings) -> Vec<Finding> {
    match try_language_models(settings).await {
        Ok(trials) => trials.iter().map(finding_of_trial).collect(),
        Err(error) => vec![Finding::Wrong(format!("{error:#}"))],
    }
}

fn finding_of_trial(trial: &ModelTrial) -> Finding {
    let roles: Vec<&str> = trial.roles.iter().map(|it| it.name()).collect();
    let shared = match roles.len() {
        1 => "",
        _ => " (same settings: one call for all)",
    };
    let who = format!("{}{shared}: {} at {}", roles.join(", "), trial.model, trial.url);
    let ms = trial.time.as_millis();
    match &trial.outcome {
        TrialOutcome::Good(usage) => Finding::Well(format!(
            "{who} replies correctly, in {ms} ms ({} + {} tokens)",
            usage.prompt_tokens, usage.completion_tokens
        )),
        TrialOutcome::Doubtful(why) => Finding::Doubtful(format!("{who}, in {ms} ms: {why}")),
        TrialOutcome::Failed(why) => Finding::Wrong(format!("{who}, after {ms} ms: {why}")),
        TrialOutcome::NotAsked(why) => {
            Finding::Skipped(format!("{}{shared}: {why}; no endpoint is called", roles.join(", ")))
        }
    }
}
