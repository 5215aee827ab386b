//! Tries each language model in the settings with one small question, so that an operator can check whether it works.

use std::error::Error;
use std::time::Duration;

use adapters::models::endpoint::EndpointError;
use adapters::models::endpoint::chat::{ChatEndpoint, Options};
use domain::PortError;
use domain::port::{Chat, Completion, LanguageModel, ModelRole, ReplyForm, Usage};
use serde::Deserialize;
use serde_json::{Value, json};
use text::model_text::model_reply::{after_thoughts, last_object};
use tokio::time::Instant;

use crate::Settings;

const SYSTEM: &str = "You answer one question from numbered lines.\n\nReply with one JSON object and nothing else:\n\
                      {\"answer\": the answer in a few words,\n \"lines\": the numbers of the lines that the answer stands on}";
const USER: &str =
    "The question:\nWhat is Ann's cat called?\n\nThe lines:\n1. Ann: My cat is called Pixel.\n2. Ben: I have no cat.";
/// The correct answer.
const ANSWER: &str = "pixel";

/// The result of trying one model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTrial {
    /// The roles that use this model with the same settings.
    pub roles: Vec<ModelRole>,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Address of the endpoint.
    pub url: String,
    /// Duration of the call.
    pub time: Duration,
    /// The verdict on the reply.
    pub outcome: TrialOutcome,
}

/// The verdict on the reply of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    /// The correct answer in the requested form; with the tokens that the endpoint reports.
    Good(Usage),
    /// A usable reply with a problem that the operator should know about.
    Doubtful(String),
    /// No usable reply; with the reason and what to do.
    Failed(String),
    /// Not called; with the reason.
    NotAsked(String),
}

#[derive(Deserialize)]
struct Reply {
    answer: Value,
    lines: Value,
}

/// Calls the model of every role once, one after the other. Roles with the same settings share one call.
///
/// # Errors
///
/// An invalid section `[language_model]`.
pub async fn try_language_models(settings: &Settings) -> anyhow::Result<Vec<ModelTrial>> {
    let options: Options = settings.read_section("language_model")?;
    let replays = !options.replay.as_os_str().is_empty();
    let mut trials = Vec::new();
    for (own, roles) in group_roles_by_options(&options) {
        if own.url.is_empty() && !replays {
            continue;
        }
        let begun = Instant::now();
        let outcome = match replays {
            true => TrialOutcome::NotAsked(format!("calls are replayed from {}", own.replay.display())),
            false => try_model(&own, roles[0]).await,
        };
        trials.push(ModelTrial {
            roles,
            time: begun.elapsed(),
            outcome,
            model: own.model,
            url: own.url,
        });
    }
    Ok(trials)
}

/// Returns the distinct settings in force, each with its roles.
fn group_roles_by_options(options: &Options) -> Vec<(Options, Vec<ModelRole>)> {
    let mut groups: Vec<(Options, Vec<ModelRole>)> = Vec::new();
    for role in ModelRole::ALL {
        let own = options.for_role(role);
        // Limits on the length and duration of a reply do not matter for a trial.
        let is_same = |it: &Options| {
            let bounded = Options {
                parameters: it.parameters.clone(),
                timeout_secs: it.timeout_secs,
                ..own.clone()
            };
            *it == own || role == ModelRole::Write && !options.roles.contains_key(&role) && *it == bounded
        };
        match groups.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, roles)) => roles.push(role),
            None => groups.push((own, vec![role])),
        }
    }
    groups
}

async fn try_model(options: &Options, role: ModelRole) -> TrialOutcome {
    let endpoint = match ChatEndpoint::new(options) {
        Ok(endpoint) => endpoint,
        Err(error) => return TrialOutcome::Failed(error.to_string()),
    };
    let chat = Chat {
        form: Some(ReplyForm {
            name: "trial",
            schema: json!({
                "type": "object",
                "properties": {
                    "answer": { "type": "string" },
                    "lines": { "type": "array", "items": { "type": "integer" } }
                },
                "required": ["answer", "lines"],
                "additionalProperties": false
            }),
        }),
        ..Chat::new(role, SYSTEM, USER.to_owned())
    };
    match endpoint.complete(&chat).await {
        Ok(completion) => judge_reply(options, &completion),
        Err(error) => TrialOutcome::Failed(failure_reason(options, &error)),
    }
}

/// Returns the verdict on a reply. The text of the reply is not repeated, because it may contain anything.
fn judge_reply(options: &Options, completion: &Completion) -> TrialOutcome {
    let answer = after_thoughts(&completion.text).unwrap_or_default();
    let alone: Option<Reply> = serde_json::from_str(answer.trim()).ok();
    let kept_to_form = alone.as_ref().is_some_and(|it| it.lines.is_array());
    let Some(reply) = alone.or_else(|| last_object(answer).map(|(_, it)| it)) else {
        return TrialOutcome::Failed(match completion.cut {
            true => "its reply was cut off: raise `max_tokens` in `parameters`".to_owned(),
            false => format!(
                "its reply is not the requested JSON object{}: use a model or an endpoint that follows a required form",
                if options.schema {
                    ", though its schema was sent"
                } else {
                    ""
                }
            ),
        });
    };
    let is_right = reply
        .answer
        .as_str()
        .is_some_and(|it| it.to_lowercase().contains(ANSWER));
    match (kept_to_form, is_right) {
        (_, false) => TrialOutcome::Doubtful(
            "its reply can be read, but gives a wrong answer to a plain question: use a better model".to_owned(),
        ),
        (false, true) if options.schema => TrialOutcome::Doubtful(
            "it ignores the schema and writes more than the JSON object; this reply can be read, but other replies \
             may fail: use an endpoint that enforces schemas, or set `schema = false`"
                .to_owned(),
        ),
        (_, true) => TrialOutcome::Good(completion.usage),
    }
}

/// Returns the reason why a call failed, and what to do.
fn failure_reason(options: &Options, error: &PortError) -> String {
    let detail = error.detail();
    match error.source().and_then(|it| it.downcast_ref::<EndpointError>()) {
        Some(EndpointError::Away { source, .. }) if source.is_timeout() => format!(
            "no reply within {} s: raise `timeout_secs` if the model is large or still loading, or use a smaller one",
            options.timeout_secs.max(1)
        ),
        Some(EndpointError::Away { source, .. }) => {
            format!("{detail} ({}): start it, or check `url`", innermost_cause(source))
        }
        Some(EndpointError::Form { reason, .. }) => {
            format!("{detail} ({reason}): check that `url` is the address of a chat completions API, up to its version")
        }
        Some(EndpointError::Status { status: 500.., .. }) => format!("{detail}: check the log of the endpoint"),
        Some(EndpointError::Status { .. } | EndpointError::Options { .. }) | None => detail.to_owned(),
    }
}

fn innermost_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use std::iter::once;

    use adapters::models::endpoint::chat::RoleOptions;

    use super::*;

    #[test]
    fn roles_with_the_same_settings_share_a_call() {
        let mut options = Options {
            url: "http://a/v1".to_owned(),
            model: "big".to_owned(),
            ..Options::default()
        };
        let all = group_roles_by_options(&options);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1, ModelRole::ALL);
        let small = RoleOptions {
            model: Some("small".to_owned()),
            ..RoleOptions::default()
        };
        options.roles.insert(ModelRole::Rank, small);
        let apart = group_roles_by_options(&options);
        assert_eq!(apart.len(), 2);
        let ranks = apart.iter().find(|(own, _)| own.model == "small").unwrap();
        assert_eq!(ranks.1, once(ModelRole::Rank).collect::<Vec<ModelRole>>());
    }
}
