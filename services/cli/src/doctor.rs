//! Checks whether an installation is sound, and repairs drift between its stores on request.

mod language_model;

use std::path::Path;
use std::time::Duration;

use host::{Context, Settings};

use crate::api::Client;
use crate::args::Doctor;
use crate::out::{Paint, Style};
use crate::{Outcome, config, drift, out, serve, upkeep};

/// The disk is reported as nearly full below this many free bytes.
const LEAST_FREE_BYTES: u64 = 1 << 30;
/// Timeout for the connection to the servers, in tenths of a second.
const PATIENCE: u32 = 150;

/// Most unfinished erasures that are counted, and that one run finishes.
const ERASURES_MAX: usize = 1_000;

/// The result of one check.
enum Finding {
    Well(String),
    Skipped(String),
    Doubtful(String),
    Wrong(String),
}

/// Prints findings and remembers whether one of them was wrong.
struct Report {
    paint: Paint,
    wrong: bool,
}

impl Report {
    fn add(&mut self, what: &str, finding: Finding) {
        let (style, mark, text) = match finding {
            Finding::Well(text) => (Style::Good, "ok", text),
            Finding::Skipped(text) => (Style::Dim, "skipped", text),
            Finding::Doubtful(text) => (Style::Warning, "look", text),
            Finding::Wrong(text) => {
                self.wrong = true;
                (Style::Bad, "wrong", text)
            }
        };
        out::say(&format!(
            "{} {what:<10} {text}",
            self.paint.paint(style, &format!("{mark:<8}"))
        ));
    }
}

/// Checks settings, folder, file, stores, disk, language models and server.
pub(crate) async fn doctor(args: &Doctor) -> anyhow::Result<Outcome> {
    let mut report = Report {
        paint: Paint::of_terminal(),
        wrong: false,
    };
    match serve::settings(&args.local).and_then(config::complete) {
        Ok(settings) => {
            report.add(
                "settings",
                Finding::Well("every section is understood (see `mnemic config`)".into()),
            );
            if let Err(error) = config::check_weights(&settings) {
                report.add("weights", Finding::Wrong(format!("{error:#}")));
            }
            match upkeep::directory(&settings)? {
                Some(dir) => files(&dir, settings.clone(), args.repair, &mut report).await,
                None => servers(settings.clone(), args.repair, &mut report).await,
            }
            for finding in language_model::look(&settings).await {
                report.add("model", finding);
            }
        }
        Err(error) => report.add("settings", Finding::Wrong(format!("{error:#}"))),
    }
    report.add("server", server(args).await);
    Ok(if report.wrong { Outcome::Lacking } else { Outcome::Done })
}

async fn files(dir: &Path, settings: Settings, repair: bool, report: &mut Report) {
    let shown = dir.display();
    if !dir.is_dir() {
        report.add(
            "folder",
            Finding::Skipped(format!("{shown} does not exist yet; `mnemic serve` makes it")),
        );
        return;
    }
    let free = match host::upkeep::is_held(dir) {
        Ok(true) => {
            report.add("folder", Finding::Well(format!("{shown}, in use by a running server")));
            false
        }
        Ok(false) => {
            report.add("folder", Finding::Well(format!("{shown}, not in use")));
            true
        }
        Err(error) => {
            report.add("folder", Finding::Wrong(format!("{shown}: {error}")));
            return;
        }
    };
    report.add("disk", disk(dir));
    let found = host::upkeep::check(dir);
    let sound = found.as_ref().is_ok_and(Vec::is_empty);
    report.add(
        "file",
        match found {
            Ok(found) if found.is_empty() => {
                Finding::Well("integrity check passed, nothing was changed from outside".into())
            }
            Ok(found) => Finding::Wrong(format!(
                "damaged, bring back a copy with `mnemic restore`: {}",
                found.join("; ")
            )),
            Err(error) => Finding::Wrong(format!("{:#}", anyhow::Error::from(error))),
        },
    );
    if !free {
        report.add(
            "stores",
            Finding::Skipped("the running server has them; stop it to compare them".into()),
        );
    } else if !repair && host::upkeep::is_behind(dir).unwrap_or(false) {
        report.add(
            "stores",
            Finding::Skipped(
                "an older mnemic wrote the file, and looking into it would bring it up to date: make a copy with `mnemic backup`, \
                 then run `mnemic serve` or `mnemic doctor --repair`"
                    .into(),
            ),
        );
    } else if sound {
        let compared = match opened(dir, settings, repair, report).await {
            Ok(ctx) => embedded_stores(&ctx, repair).await,
            Err(error) => Err(error),
        };
        report.add(
            "stores",
            compared.unwrap_or_else(|error| Finding::Wrong(format!("{error:#}"))),
        );
    }
}

/// Opens the stores of a folder. If their vectors come from another model, a repair removes them, so that all texts are
/// embedded again.
async fn opened(dir: &Path, settings: Settings, repair: bool, report: &mut Report) -> anyhow::Result<Context> {
    let error = match Context::embedded_with(dir, settings.clone()).await {
        Ok(ctx) => return Ok(ctx),
        Err(error) => error,
    };
    let Some(model) = host::upkeep::other_model(&error).filter(|_| repair) else {
        return Err(error);
    };
    host::upkeep::forget_vectors(dir)?;
    report.add(
        "vectors",
        Finding::Well(format!("those of {model} are gone, everything is embedded anew")),
    );
    Context::embedded_with(dir, settings).await
}

fn disk(dir: &Path) -> Finding {
    match host::upkeep::free_bytes(dir) {
        Err(error) => Finding::Skipped(format!("the system does not say how much is free: {error}")),
        Ok(bytes) if bytes < LEAST_FREE_BYTES => Finding::Doubtful(format!("only {} MiB free", bytes >> 20)),
        Ok(bytes) => Finding::Well(format!("{} GiB free", bytes >> 30)),
    }
}

/// Connects to the servers and compares the contents of their stores.
async fn servers(settings: Settings, repair: bool, report: &mut Report) {
    let ctx = match Context::connect("gateway", settings).await {
        Ok(ctx) => ctx,
        Err(error) => return report.add("servers", Finding::Wrong(format!("{error:#}"))),
    };
    for _ in 0..PATIENCE {
        if ctx.readiness.missing().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let missing = ctx.readiness.missing();
    if missing.is_empty() {
        report.add(
            "servers",
            Finding::Well("nats, neo4j and qdrant are provisioned".into()),
        );
        let compared = stores(&ctx, repair).await;
        report.add(
            "stores",
            compared.unwrap_or_else(|error| Finding::Wrong(format!("{error:#}"))),
        );
    } else {
        report.add("servers", Finding::Wrong(missing.join("; ")));
    }
    ctx.shutdown.cancel();
}

/// Compares the stores of a folder. A repair needs the writer, which then runs in this process.
async fn embedded_stores(ctx: &Context, repair: bool) -> anyhow::Result<Finding> {
    if !repair {
        return stores(ctx, false).await;
    }
    let compared = async {
        let outcome = stores(ctx, true).await;
        ctx.shutdown.cancel();
        outcome
    };
    let (written, compared) = tokio::join!(writer::run(ctx.clone()), compared);
    written?;
    compared
}

/// Compares the contents of the stores; with `repair`, derives the drifted data again.
async fn stores(ctx: &Context, repair: bool) -> anyhow::Result<Finding> {
    let mut spaces = drift::look(ctx).await?;
    let mut mended = String::new();
    if repair {
        let drifted: Vec<&drift::Held> = spaces.iter().filter(|it| it.drift().is_some()).collect();
        for held in &drifted {
            drift::repair(ctx, held).await?;
        }
        if !drifted.is_empty() {
            let was: Vec<String> = drifted.iter().filter_map(|it| it.drift()).collect();
            mended = format!("; mended {}", was.join("; "));
            spaces = drift::look(ctx).await?;
        }
    }
    let drifted: Vec<String> = spaces.iter().filter_map(drift::Held::drift).collect();
    let unfinished = unfinished_erasures(ctx, repair).await?;
    let dead = ctx.backends.dead_letters.count().await?;
    let sum = |count: fn(&drift::Held) -> u64| spaces.iter().map(count).sum::<u64>();
    if !drifted.is_empty() {
        return Ok(Finding::Wrong(format!(
            "{}; `mnemic doctor --repair` derives them again",
            drifted.join("; ")
        )));
    }
    let dead = (dead > 0).then(|| format!("{dead} dead letters; see /v1/admin/dead-letters"));
    let doubts: Vec<String> = unfinished.into_iter().chain(dead).chain(aged(&spaces)).collect();
    Ok(match doubts.is_empty() {
        true => Finding::Well(format!(
            "{} spaces, {} records, {} turn units, {} points{mended}",
            spaces.len(),
            sum(|it| it.records as u64),
            sum(|it| it.units as u64),
            sum(|it| it.points as u64)
        )),
        false => Finding::Doubtful(format!("{}{mended}", doubts.join("; "))),
    })
}

/// Returns a sentence about deleted spaces that still have data in a store; with `repair`, erases these data first.
async fn unfinished_erasures(ctx: &Context, repair: bool) -> anyhow::Result<Option<String>> {
    let records = &ctx.backends.records;
    if repair {
        for erasure in records.unfinished_erasures(None, ERASURES_MAX).await? {
            gateway::finish_erasure(ctx, &erasure).await?;
        }
    }
    let left = records.unfinished_erasures(None, ERASURES_MAX).await?;
    let Some(first) = left.first() else { return Ok(None) };
    Ok(Some(format!(
        "{} deleted spaces are not erased in every store yet, such as {}; the gateway goes on by itself, `mnemic doctor --repair` \
         does it now",
        left.len(),
        first.space
    )))
}

/// Returns a sentence about units that were written by older rules; `None` if there are none.
fn aged(spaces: &[drift::Held]) -> Option<String> {
    let aged: Vec<&drift::Held> = spaces.iter().filter(|it| it.older > 0).collect();
    let first = aged.first()?;
    let units: usize = aged.iter().map(|it| it.older).sum();
    Some(format!(
        "{units} units in {} spaces were written by older rules; `mnemic rebuild {}` writes those of a space anew",
        aged.len(),
        first.space
    ))
}

async fn server(args: &Doctor) -> Finding {
    let url = &args.remote.url;
    let spaces = match Client::new(url, args.remote.key.clone()) {
        Ok(client) => client.spaces().await,
        Err(error) => return Finding::Wrong(format!("{error:#}")),
    };
    match spaces {
        Ok(spaces) => Finding::Well(format!("{url} answers; spaces to see: {}", spaces.len())),
        Err(crate::api::Error::Unreachable { .. }) => Finding::Doubtful(format!("nobody answers at {url}")),
        Err(error) => Finding::Wrong(format!("{url}: {error}")),
    }
}
