use std::io::IsTerminal;
use std::time::Duration;

use domain::evidence::Sufficiency;
use gateway::api::{PathStep, QueryResponse};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::api::Client;
use crate::args::Ask;
use crate::output::Paint;
use crate::{Outcome, output, render};

/// Interval between two frames of the progress indicator.
const TICK: Duration = Duration::from_millis(100);

/// Asks one question and prints the response.
pub(crate) async fn ask_question(args: &Ask) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    let mut body = json!({
        "question": args.question,
        "strategy": args.strategy,
        "style": args.style,
        "budget": {
            "tokens": args.budget,
            "enough": args.enough,
            "ms": args.time_ms,
            "model_calls": args.model_calls,
        },
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
    if !args.tag.is_empty() {
        body["filter"]["tags"] = json!({ "all": args.tag });
    }
    let response = query_with_progress(&client, args, &body).await?;
    let status = response["verdict"]["status"].as_str().unwrap_or_default().to_owned();
    if args.json {
        output::say_json(&response)?;
        return Ok(if status == "insufficient" {
            Outcome::Lacking
        } else {
            Outcome::Done
        });
    }
    let reply: QueryResponse = serde_json::from_value(response)?;
    let paint = Paint::of_terminal();
    output::print_line(&render::reply_text(&reply, paint));
    let refused = reply.verdict.status == Sufficiency::Insufficient;
    Ok(if refused { Outcome::Lacking } else { Outcome::Done })
}

/// Returns the response. If a language model takes several steps, each step is shown on the terminal as it happens.
async fn query_with_progress(client: &Client, args: &Ask, body: &Value) -> anyhow::Result<Value> {
    if args.model_calls == 0 || !std::io::stderr().is_terminal() {
        return Ok(client.send_query(&args.space, body).await?);
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(TICK);
    let show_step = |step: &PathStep| {
        let line = format!("{} {}: {} found", step.step, step.what, step.found);
        bar.set_message(output::for_terminal(&line));
    };
    let response = client.query_with_steps(&args.space, body, show_step).await;
    bar.finish_and_clear();
    Ok(response?)
}
