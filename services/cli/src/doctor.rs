//! Looks whether an installation is sound. Reads only.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::process::Command;

use domain::id::SpaceId;
use domain::port::Graph;
use domain::unit::{Grain, Status, Unit};
use host::{Context, Settings};

use crate::api::Client;
use crate::args::Doctor;
use crate::out::{Paint, Style};
use crate::{Outcome, config, out, serve, upkeep};

/// Free space under which the disk is called nearly full, KiB.
const LEAST_FREE_KIB: u64 = 1 << 20;
/// Units read at once to count them.
const PAGE: usize = 1_000;
/// Spaces looked at.
const SPACES_MAX: usize = 10_000;

/// How one look came out.
enum Finding {
    Well(String),
    Skipped(String),
    Doubtful(String),
    Wrong(String),
}

/// Prints findings and remembers whether one was bad.
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

/// Looks at settings, folder, file, stores, disk and server.
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
            match upkeep::directory(&settings)? {
                Some(dir) => files(&dir, settings, &mut report).await,
                None => report.add("files", Finding::Skipped("the memory is on servers".into())),
            }
        }
        Err(error) => report.add("settings", Finding::Wrong(format!("{error:#}"))),
    }
    report.add("server", server(args).await);
    Ok(if report.wrong { Outcome::Lacking } else { Outcome::Done })
}

async fn files(dir: &Path, settings: Settings, report: &mut Report) {
    let shown = dir.display();
    if !dir.is_dir() {
        report.add(
            "folder",
            Finding::Skipped(format!("{shown} does not exist yet; `mnemic serve` makes it")),
        );
        return;
    }
    let free = match locked(dir) {
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
            Ok(found) if found.is_empty() => Finding::Well("integrity check passed".into()),
            Ok(found) => Finding::Wrong(format!("damaged, restore a backup: {}", found.join("; "))),
            Err(error) => Finding::Wrong(format!("{:#}", anyhow::Error::from(error))),
        },
    );
    if !free {
        report.add(
            "stores",
            Finding::Skipped("the running server has them; stop it to compare them".into()),
        );
    } else if sound {
        let compared = stores(dir, settings).await;
        report.add(
            "stores",
            compared.unwrap_or_else(|error| Finding::Wrong(format!("{error:#}"))),
        );
    }
}

/// Says whether a server holds the folder.
fn locked(dir: &Path) -> std::io::Result<bool> {
    let path = dir.join("mnemic.lock");
    if !path.exists() {
        return Ok(false);
    }
    match File::options().append(true).open(path)?.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn disk(dir: &Path) -> Finding {
    let output = Command::new("df").args(["-P", "-k"]).arg(dir).output();
    let text = output
        .map(|it| String::from_utf8_lossy(&it.stdout).into_owned())
        .unwrap_or_default();
    let free = text
        .lines()
        .nth(1)
        .and_then(|it| it.split_whitespace().nth(3)?.parse::<u64>().ok());
    match free {
        None => Finding::Skipped("`df` does not say how much is free".into()),
        Some(kib) if kib < LEAST_FREE_KIB => Finding::Doubtful(format!("only {} MiB free", kib / 1024)),
        Some(kib) => Finding::Well(format!("{} GiB free", kib >> 20)),
    }
}

/// Compares what the stores hold: every turn unit in use has at least one point in the index.
async fn stores(dir: &Path, settings: Settings) -> anyhow::Result<Finding> {
    let ctx = Context::embedded_with(dir, settings).await?;
    let (records, graph, index) = (&ctx.backends.records, &ctx.backends.graph, &ctx.backends.index);
    let spaces = records.spaces(None, SPACES_MAX).await?;
    let (mut units, mut points, mut short) = (0, 0, Vec::new());
    for info in &spaces {
        let active = turns_in_use(&**graph, &info.space).await?;
        let indexed = index.count(&info.space).await?;
        if indexed < active {
            short.push(format!("{} has {active} turn units and {indexed} points", info.space));
        }
        units += active;
        points += indexed;
    }
    let stored: u64 = spaces.iter().map(|it| it.records).sum();
    let dead = ctx.backends.dead_letters.list(0, PAGE).await?.len();
    Ok(match (short.is_empty(), dead) {
        (false, _) => Finding::Wrong(short.join("; ")),
        (true, 0) => Finding::Well(format!(
            "{} spaces, {stored} records, {units} turn units, {points} points",
            spaces.len()
        )),
        (true, dead) => Finding::Doubtful(format!("{dead} dead letters; see /v1/admin/dead-letters")),
    })
}

/// Counts the turn units in use; events are found through their turns and have no points of their own.
async fn turns_in_use(graph: &dyn Graph, space: &SpaceId) -> anyhow::Result<u64> {
    let (mut after, mut count) = (0, 0);
    loop {
        let changes = graph.changes(space, after, PAGE).await?;
        let Some(last) = changes.last() else { return Ok(count) };
        after = last.sequence;
        let in_use = |unit: &Unit| unit.status == Status::Active && unit.grain == Grain::Turn;
        count += changes.iter().filter(|it| in_use(&it.unit)).count() as u64;
    }
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
