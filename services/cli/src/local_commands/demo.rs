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
use crate::local_commands::serve;
use crate::output::{Paint, Style};
use crate::{output, render};

/// The sample conversation: two friends over seven months, one record per line.
const TALK: &str = include_str!("../../demo/talk.jsonl");

/// The space for the sample.
const SPACE: &str = "demo";

/// Maximum number of tokens of evidence per question, and the share of the evidence at which packing stops.
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
        shows: "she moved in autumn: the latest statement counts",
    },
    Question {
        text: "How much did the oven cost?",
        shows: "a price that was mentioned in passing",
    },
    Question {
        text: "Wann hat die Oma die Bäckerei besucht?",
        shows: "it reads seven more languages: \"gestern\" becomes a date",
    },
    Question {
        text: "What colour are the tiles in Maya's shop?",
        shows: "what a picture shows is remembered with it; no short answer is certain enough, so it returns only the evidence",
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
pub(crate) fn run_demo(args: &Demo) -> ExitCode {
    let stage = match prepare_stage() {
        Ok(stage) => stage,
        Err(error) => {
            output::print_error_line(&format!("error: {error:#}"));
            return ExitCode::FAILURE;
        }
    };
    let (url, keep) = (stage.url, args.keep);
    let code = host::run_standalone(stage.settings, async |ctx| {
        let play = async {
            let shown = if serve::wait_until_ready(&ctx).await {
                show_features(&url, keep).await
            } else {
                Ok(())
            };
            if !keep || shown.is_err() {
                ctx.shutdown.cancel();
            }
            shown
        };
        tokio::try_join!(serve::run_services(ctx.clone()), play)?;
        Ok(())
    });
    // Files that remain in the temporary folder are harmless.
    let _ = std::fs::remove_dir_all(&stage.dir);
    code
}

fn prepare_stage() -> anyhow::Result<Stage> {
    let dir = std::env::temp_dir().join(format!("mnemic-demo-{}", std::process::id()));
    let mut settings = Settings::default();
    let url = serve::configure_private_server(&mut settings, &dir)?;
    Ok(Stage { dir, url, settings })
}

async fn show_features(url: &str, keep: bool) -> anyhow::Result<()> {
    let paint = Paint::of_terminal();
    let client = Client::new(url, None)?;
    let space: SpaceId = SPACE.parse()?;
    send_sample(&client, &space, paint).await?;
    for question in QUESTIONS {
        let body = json!({
            "question": question.text,
            "budget": { "tokens": BUDGET, "enough": ENOUGH },
        });
        let reply: QueryResponse = serde_json::from_value(client.send_query(&space, &body).await?)?;
        let question_line = paint.paint_text(Style::Typed, &format!("? {}", question.text));
        output::print_line(&format!(
            "\n{question_line} {}",
            paint.paint_text(Style::Dim, &format!("({})", question.shows))
        ));
        output::print_line(&render::reply_text(&reply, paint));
    }
    show_facts_and_hint(&client, &space, paint).await?;
    output::print_line(&next_steps_text(url, keep, paint));
    Ok(())
}

/// Shows the facts that the memory derived from the conversation, and its hint on a message that is not a question.
async fn show_facts_and_hint(client: &Client, space: &SpaceId, paint: Paint) -> anyhow::Result<()> {
    let mut facts = Vec::new();
    for _ in 0..LOOKS {
        facts = client.list_facts(space, &[]).await?;
        // A fact that is no longer valid is the last to appear.
        if facts.iter().any(|it| it.valid_until.is_some()) {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    output::print_line(&paint.paint_text(Style::Bold, "\nFacts from the conversation, and when they hold:"));
    output::print_line(&render::facts_text(facts, paint));
    let typed = paint.paint_text(Style::Typed, &format!("> {MESSAGE}"));
    output::print_line(&format!(
        "\n{typed} {}",
        paint.paint_text(
            Style::Dim,
            "(a message, not a question; recall returns what is worth knowing)"
        )
    ));
    let body = json!({ "message": MESSAGE, "actor": "Jonas", "limit": 1, "sensitive": true });
    output::print_line(&render::hints_text(&client.recall_hints(space, &body).await?, paint));
    Ok(())
}

/// Sends the sample and waits until all of it is searchable.
async fn send_sample(client: &Client, space: &SpaceId, paint: Paint) -> anyhow::Result<()> {
    let records: Vec<Value> = TALK.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    client.create_space(space).await?;
    let accepted = client.send_records(space, "demo", &records).await?;
    ensure!(
        accepted.items.iter().all(|it| it.status == ItemStatus::Accepted),
        "the sample was not accepted"
    );
    while !client.wait_for_watermark(space, &accepted.watermark).await? {}
    let heading = format!(
        "{} records of Maya and Jonas are stored, March to October 2025.",
        records.len()
    );
    output::print_line(&paint.paint_text(Style::Bold, &heading));
    output::print_line("No language model was called, and no data left this machine. The first and the last record:");
    for record in records.first().into_iter().chain(records.last()) {
        let text = |name: &str| record[name].as_str().unwrap_or_default();
        let date = paint.paint_text(Style::Dim, text("observed_at").get(..10).unwrap_or_default());
        output::print_line(&format!("  {date}  {}: {}", text("actor"), text("text")));
    }
    Ok(())
}

/// Returns true if `mnemic` is in the search path of the shell.
fn is_in_search_path() -> bool {
    let name = format!("mnemic{}", std::env::consts::EXE_SUFFIX);
    std::env::var_os("PATH").is_some_and(|it| std::env::split_paths(&it).any(|dir| dir.join(&name).is_file()))
}

fn next_steps_text(url: &str, keep: bool, paint: Paint) -> String {
    let typed = |text: &str| paint.paint_text(Style::Typed, text);
    let mut text = format!("\n{}\n", paint.paint_text(Style::Bold, "Your own memory:"));
    let install = (
        "cargo install --path services/cli --locked",
        "build it for speed, and put `mnemic` on your path",
    );
    let commands = [
        (
            "mnemic serve",
            "run the server; its page is http://127.0.0.1:7077, its API /docs",
        ),
        ("mnemic import talk.jsonl --space me", "import a conversation"),
        (
            "mnemic ask \"Where do I live?\" --space me",
            "get evidence and an answer",
        ),
        ("mnemic --help", "the rest"),
    ];
    for (command, what) in Some(install)
        .filter(|_| !is_in_search_path())
        .into_iter()
        .chain(commands)
    {
        text += &format!("  {}  {what}\n", typed(&format!("{command:<42}")));
    }
    let base = if keep { url } else { "http://127.0.0.1:7077" };
    text += &format!("\n{}\n", paint.paint_text(Style::Bold, "The same over HTTP:"));
    let example = [
        format!("  curl -X PUT {base}/v1/spaces/me"),
        format!("  curl {base}/v1/spaces/me/records -H 'content-type: application/json' \\"),
        "    -d '{\"records\": [{\"actor\": \"Ann\", \"text\": \"I moved to Oslo yesterday.\"}]}'".to_owned(),
        format!("  curl {base}/v1/spaces/me/query -H 'content-type: application/json' \\"),
        "    -d '{\"question\": \"When did Ann move to Oslo?\", \"answer\": true}'".to_owned(),
    ];
    text += &typed(&example.join("\n"));
    if keep {
        text +=
            &format!("\n\nThe demo's server keeps running at {url} (space {SPACE}, docs at {url}/docs) until Ctrl-C.");
    }
    text
}
