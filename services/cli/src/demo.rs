//! A demonstration that takes half a minute: a sample conversation, questions, answers, a refusal, facts, a hint.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::ensure;
use domain::id::SpaceId;
use gateway::api::{ItemStatus, QueryResponse};
use host::Settings;
use serde_json::{Value, json};

use crate::api::Client;
use crate::args::Demo;
use crate::out::{Paint, Style};
use crate::{out, render, serve};

/// The sample conversation: two friends over seven months, one record per line.
const TALK: &str = include_str!("../demo/talk.jsonl");

/// The space for the sample.
const SPACE: &str = "demo";

/// Most tokens of evidence per question, and the share of the evidence at which packing stops.
const BUDGET: u32 = 90;
const ENOUGH: f32 = 0.95;

/// A message that triggers a hint, and the number and interval of the checks for the facts.
const MESSAGE: &str = "I'll bake a walnut cake for Noor's birthday.";
const LOOKS: u32 = 50;
const LOOK: Duration = Duration::from_millis(100);

/// A question, and the feature that it demonstrates.
struct Question {
    text: &'static str,
    shows: &'static str,
}

const QUESTIONS: [Question; 6] = [
    Question {
        text: "When did Jonas hurt his wrist?",
        shows: "\"on Tuesday\" becomes a date",
    },
    Question {
        text: "Where does Maya live?",
        shows: "she moved in autumn: what was said last holds",
    },
    Question {
        text: "How much did the oven cost?",
        shows: "a price that was mentioned in passing",
    },
    Question {
        text: "Wann hat die Oma die Bäckerei besucht?",
        shows: "seven more languages are read: \"gestern\" becomes a date",
    },
    Question {
        text: "What colour are the tiles in Maya's shop?",
        shows: "what a picture shows is remembered with it; no short answer is certain enough, so the evidence comes alone",
    },
    Question {
        text: "When did Maya start learning the cello?",
        shows: "it was Jonas: no answer is better than a wrong one",
    },
];

/// The temporary folder and the URL of the demo's server.
struct Stage {
    dir: PathBuf,
    url: String,
    settings: Settings,
}

/// Runs the demo.
pub(crate) fn demo(args: &Demo) -> ExitCode {
    let stage = match stage() {
        Ok(stage) => stage,
        Err(error) => {
            out::complain(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    let (url, keep) = (stage.url, args.keep);
    let code = host::standalone(stage.settings, async |ctx| {
        let play = async {
            let shown = if serve::up(&ctx).await {
                show(&url, keep).await
            } else {
                Ok(())
            };
            if !keep || shown.is_err() {
                ctx.shutdown.cancel();
            }
            shown
        };
        tokio::try_join!(serve::services(ctx.clone()), play)?;
        Ok(())
    });
    // Files that remain in the temporary folder are harmless.
    let _ = std::fs::remove_dir_all(&stage.dir);
    code
}

fn stage() -> anyhow::Result<Stage> {
    let dir = std::env::temp_dir().join(format!("mnemic-demo-{}", std::process::id()));
    let mut settings = Settings::default();
    let url = serve::apart(&mut settings, &dir)?;
    Ok(Stage { dir, url, settings })
}

async fn show(url: &str, keep: bool) -> anyhow::Result<()> {
    let paint = Paint::of_terminal();
    let client = Client::new(url, None)?;
    let space: SpaceId = SPACE.parse()?;
    send(&client, &space, paint).await?;
    for question in QUESTIONS {
        let body = json!({
            "question": question.text,
            "budget": { "tokens": BUDGET, "enough": ENOUGH },
        });
        let reply: QueryResponse = serde_json::from_value(client.query(&space, &body).await?)?;
        let asked = paint.paint(Style::Typed, &format!("? {}", question.text));
        out::say(&format!(
            "\n{asked} {}",
            paint.paint(Style::Dim, &format!("({})", question.shows))
        ));
        out::say(&render::reply(&reply, paint));
    }
    organised(&client, &space, paint).await?;
    out::say(&next(url, keep, paint));
    Ok(())
}

/// Shows the facts that the memory derived from the conversation, and its hint on a message that is not a question.
async fn organised(client: &Client, space: &SpaceId, paint: Paint) -> anyhow::Result<()> {
    let mut facts = Vec::new();
    for _ in 0..LOOKS {
        facts = client.facts(space, &[]).await?;
        // A fact that is no longer valid is the last to appear.
        if facts.iter().any(|it| it.valid_until.is_some()) {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    out::say(&paint.paint(Style::Bold, "\nFacts it took from the talk, and when they hold:"));
    out::say(&render::facts(facts, paint));
    let typed = paint.paint(Style::Typed, &format!("> {MESSAGE}"));
    out::say(&format!(
        "\n{typed} {}",
        paint.paint(Style::Dim, "(no question; it says what should be known)")
    ));
    let body = json!({ "message": MESSAGE, "actor": "Jonas", "limit": 1, "sensitive": true });
    out::say(&render::hints(&client.recall(space, &body).await?, paint));
    Ok(())
}

/// Sends the sample and waits until all of it is searchable.
async fn send(client: &Client, space: &SpaceId, paint: Paint) -> anyhow::Result<()> {
    let records: Vec<Value> = TALK.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    client.create(space).await?;
    let accepted = client.add(space, "demo", &records).await?;
    ensure!(
        accepted.items.iter().all(|it| it.status == ItemStatus::Accepted),
        "the sample was not accepted"
    );
    while !client.written(space, &accepted.watermark).await? {}
    let heading = format!(
        "{} records of Maya and Jonas are in, March to October 2025.",
        records.len()
    );
    out::say(&paint.paint(Style::Bold, &heading));
    out::say("No model was asked, nothing left this machine. The first and the last:");
    for record in records.first().into_iter().chain(records.last()) {
        let text = |name: &str| record[name].as_str().unwrap_or_default();
        let date = paint.paint(Style::Dim, text("observed_at").get(..10).unwrap_or_default());
        out::say(&format!("  {date}  {}: {}", text("actor"), text("text")));
    }
    Ok(())
}

/// Returns true if `mnemic` is in the search path of the shell.
fn installed() -> bool {
    let name = format!("mnemic{}", std::env::consts::EXE_SUFFIX);
    std::env::var_os("PATH").is_some_and(|it| std::env::split_paths(&it).any(|dir| dir.join(&name).is_file()))
}

fn next(url: &str, keep: bool, paint: Paint) -> String {
    let typed = |text: &str| paint.paint(Style::Typed, text);
    let mut text = format!("\n{}\n", paint.paint(Style::Bold, "Your own memory:"));
    let install = (
        "cargo install --path services/cli --locked",
        "build it for speed, and put `mnemic` on your path",
    );
    let commands = [
        (
            "mnemic serve",
            "run the server; its page is http://127.0.0.1:7077, its API /docs",
        ),
        ("mnemic import talk.jsonl --space me", "put a conversation in"),
        (
            "mnemic ask \"Where do I live?\" --space me",
            "get evidence and an answer out",
        ),
        ("mnemic --help", "the rest"),
    ];
    for (command, what) in Some(install).filter(|_| !installed()).into_iter().chain(commands) {
        text += &format!("  {}  {what}\n", typed(&format!("{command:<42}")));
    }
    let base = if keep { url } else { "http://127.0.0.1:7077" };
    text += &format!("\n{}\n", paint.paint(Style::Bold, "The same over HTTP:"));
    let example = [
        format!("  curl -X PUT {base}/v1/spaces/me"),
        format!("  curl {base}/v1/spaces/me/records -H 'content-type: application/json' \\"),
        "    -d '{\"records\": [{\"actor\": \"Ann\", \"text\": \"I moved to Oslo yesterday.\"}]}'".to_owned(),
        format!("  curl {base}/v1/spaces/me/query -H 'content-type: application/json' \\"),
        "    -d '{\"question\": \"When did Ann move to Oslo?\", \"answer\": true}'".to_owned(),
    ];
    text += &typed(&example.join("\n"));
    if keep {
        text += &format!("\n\nThe demo's server goes on at {url} (space {SPACE}, docs at {url}/docs) until Ctrl-C.");
    }
    text
}
