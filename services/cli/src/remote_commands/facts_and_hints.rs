use serde_json::json;

use crate::api::{Client, parameters_with_values};
use crate::args::{Facts, Recall};
use crate::output::Paint;
use crate::{Outcome, output, render};

/// Lists facts.
pub(crate) async fn print_facts(args: &Facts) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let query = parameters_with_values(&[
        ("subject", args.about.as_deref()),
        ("as_of", args.as_of.as_deref()),
        ("current", (!args.all).then_some("true")),
    ]);
    let facts = client.list_facts(&args.space, &query).await?;
    if args.json {
        for fact in &facts {
            output::say_json_line(fact)?;
        }
    } else if facts.is_empty() {
        output::print_line("no facts; records sent a moment ago may not be organised yet");
    } else {
        output::print_line(&render::facts_text(facts, Paint::of_terminal()));
    }
    Ok(Outcome::Done)
}

/// Sends a message and prints the hints.
pub(crate) async fn print_hints(args: &Recall) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let mut body = json!({
        "message": args.message,
        "actor": args.actor,
        "session": args.session,
        "limit": args.limit,
        "sensitive": args.sensitive,
        "budget": { "ms": args.time_ms, "model_calls": args.model_calls },
    });
    if !args.tag.is_empty() {
        body["filter"] = json!({ "tags": { "all": args.tag } });
    }
    let response = client.recall_hints(&args.space, &body).await?;
    if args.json {
        output::say_json(&response)?;
    } else {
        output::print_line(&render::hints_text(&response, Paint::of_terminal()));
    }
    Ok(Outcome::Done)
}
