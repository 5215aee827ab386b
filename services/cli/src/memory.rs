use serde_json::json;

use crate::api::{Client, given};
use crate::args::{Facts, Recall};
use crate::out::Paint;
use crate::{Outcome, out, render};

/// Lists facts.
pub(crate) async fn facts(args: &Facts) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let query = given(&[
        ("subject", args.about.as_deref()),
        ("as_of", args.as_of.as_deref()),
        ("current", (!args.all).then_some("true")),
    ]);
    let facts = client.facts(&args.space, &query).await?;
    if args.json {
        for fact in &facts {
            out::say_json_line(fact)?;
        }
    } else if facts.is_empty() {
        out::say("no facts; what was sent a moment ago may not be organised yet");
    } else {
        out::say(&render::facts(facts, Paint::of_terminal()));
    }
    Ok(Outcome::Done)
}

/// Sends a message and prints the hints.
pub(crate) async fn recall(args: &Recall) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let mut body = json!({
        "message": args.message,
        "actor": args.actor,
        "session": args.session,
        "limit": args.limit,
        "sensitive": args.sensitive,
        "budget": { "model_calls": args.model_calls },
    });
    if !args.tag.is_empty() {
        body["filter"] = json!({ "tags": { "all": args.tag } });
    }
    let response = client.recall(&args.space, &body).await?;
    if args.json {
        out::say_json(&response)?;
    } else {
        out::say(&render::hints(&response, Paint::of_terminal()));
    }
    Ok(Outcome::Done)
}
