use domain::evidence::Sufficiency;
use gateway::api::QueryResponse;
use serde_json::json;

use crate::api::Client;
use crate::args::Ask;
use crate::out::Paint;
use crate::{Outcome, out, render};

/// Asks one question and prints what comes back.
pub(crate) async fn ask(args: &Ask) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let body = json!({
        "question": args.question,
        "strategy": args.strategy,
        "style": args.style,
        "budget": { "tokens": args.budget, "enough": args.enough, "model_calls": args.model_calls },
        "as_of": args.as_of,
        "asked_at": args.asked_at,
        "filter": {
            "actors": args.actor,
            "sessions": args.session,
            "from": args.from,
            "until": args.until,
        },
        "answer": true,
        "explain": args.explain,
    });
    let response = client.query(&args.space, &body).await?;
    let status = response["verdict"]["status"].as_str().unwrap_or_default().to_owned();
    if args.json {
        out::say_json(&response)?;
        return Ok(if status == "insufficient" {
            Outcome::Lacking
        } else {
            Outcome::Done
        });
    }
    let reply: QueryResponse = serde_json::from_value(response)?;
    let paint = Paint::of_terminal();
    out::say(&render::reply(&reply, paint));
    let refused = reply.verdict.status == Sufficiency::Insufficient;
    Ok(if refused { Outcome::Lacking } else { Outcome::Done })
}
