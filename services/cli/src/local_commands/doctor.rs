//! Checks whether an installation is sound, and repairs drift between its stores on request.

mod language_model;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use host::{Context, Settings};

use crate::Outcome;
use crate::api::Client;
use crate::args::Doctor;
use crate::local_commands::{backup, config, drift, settings};
use crate::output::{self, Paint, Style};

/// The disk is reported as nearly full below this many free bytes.
const LEAST_FREE_BYTES: u64 = 1 << 30;
/// Timeout for the connection to the servers, in tenths of a second.
const PATIENCE: u32 = 150;

/// Maximum number of unfinished erasures that are counted, and that one run finishes.
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
    fn add_finding(&mut self, what: &str, finding: Finding) {
        let (style, mark, text) = match finding {
            Finding::Well(text) => (Style::Good, "ok", text),
            Finding::Skipped(text) => (Style::Dim, "skipped", text),
            Finding::Doubtful(text) => (Style::Warning, "look", text),
            Finding::Wrong(text) => {
                self.wrong = true;
                (Style::Bad, "wrong", text)
            }
        };
        output::print_line(&format!(
            "{} {what:<10} {text}",
            self.paint.paint_text(style, &format!("{mark:<8}"))
        ));
    }
}

/// Checks settings, folder, file, stores, disk, language models and server.
pub(crate) async fn check_installation(args: &Doctor) -> anyhow::Result<Outcome> {
    let mut report = Report {
        paint: Paint::of_terminal(),
        wrong: false,
    };
    let mut listen = gateway::Config::default().listen;
    match settings::load_settings(&args.local).and_then(config::fill_in_all_defaults) {
        Ok(settings) => {
            listen = settings.read_section::<gateway::Config>("gateway")?.listen;
            report.add_finding(
                "settings",
                Finding::Well("all sections are valid (see `mnemic config`)".into()),
            );
            if let Err(error) = config::check_weights(&settings) {
                report.add_finding("weights", Finding::Wrong(format!("{error:#}")));
            }
            match backup::embedded_directory(&settings)? {
                Some(dir) => check_folder(&dir, settings.clone(), args.repair, &mut report).await,
                None => check_servers(settings.clone(), args.repair, &mut report).await,
            }
            for finding in language_model::check_models(&settings).await {
                report.add_finding("model", finding);
            }
        }
        Err(error) => report.add_finding("settings", Finding::Wrong(format!("{error:#}"))),
    }
    report.add_finding("server", check_http_server(args, &listen).await);
    Ok(if report.wrong { Outcome::Lacking } else { Outcome::Done })
}

async fn check_folder(dir: &Path, settings: Settings, repair: bool, report: &mut Report) {
    let shown = dir.display();
    if !dir.is_dir() {
        report.add_finding(
            "folder",
            Finding::Skipped(format!("{shown} does not exist yet; `mnemic serve` makes it")),
        );
        return;
    }
    let free = match host::upkeep::is_held(dir) {
        Ok(true) => {
            report.add_finding("folder", Finding::Well(format!("{shown}, in use by a running server")));
            false
        }
        Ok(false) => {
            report.add_finding("folder", Finding::Well(format!("{shown}, not in use")));
            true
        }
        Err(error) => {
            report.add_finding("folder", Finding::Wrong(format!("{shown}: {error}")));
            return;
        }
    };
    report.add_finding("disk", check_disk(dir, &settings));
    let found = host::upkeep::check_file(dir);
    let sound = found.as_ref().is_ok_and(Vec::is_empty);
    report.add_finding(
        "file",
        match found {
            Ok(found) if found.is_empty() => {
                Finding::Well("integrity check passed, no other program has changed the content".into())
            }
            Ok(found) => Finding::Wrong(format!(
                "damaged, restore a copy with `mnemic restore`: {}",
                found.join("; ")
            )),
            Err(error) => Finding::Wrong(format!("{:#}", anyhow::Error::from(error))),
        },
    );
    if !free {
        report.add_finding(
            "stores",
            Finding::Skipped("the running server has them; stop it to compare them".into()),
        );
    } else if !repair && host::upkeep::needs_migration(dir).unwrap_or(false) {
        report.add_finding(
            "stores",
            Finding::Skipped(
                "an older mnemic wrote the file, and opening it would upgrade it: make a copy with `mnemic backup`, \
                 then run `mnemic serve` or `mnemic doctor --repair`"
                    .into(),
            ),
        );
    } else if sound {
        let compared = match open_stores(dir, settings, repair, report).await {
            Ok(ctx) => embedded_stores(&ctx, repair).await,
            Err(error) => Err(error),
        };
        report.add_finding(
            "stores",
            compared.unwrap_or_else(|error| Finding::Wrong(format!("{error:#}"))),
        );
    }
}

/// Opens the stores of a folder. If their vectors come from another model, a repair removes them, so that all texts are
/// embedded again.
async fn open_stores(dir: &Path, settings: Settings, repair: bool, report: &mut Report) -> anyhow::Result<Context> {
    let error = match Context::embedded_with(dir, settings.clone()).await {
        Ok(ctx) => return Ok(ctx),
        Err(error) => error,
    };
    let Some(model) = host::upkeep::other_model(&error).filter(|_| repair) else {
        return Err(error);
    };
    host::upkeep::forget_vectors(dir)?;
    report.add_finding(
        "vectors",
        Finding::Well(format!(
            "the vectors of {model} were removed, all texts are embedded again"
        )),
    );
    Context::embedded_with(dir, settings).await
}

fn check_disk(dir: &Path, settings: &Settings) -> Finding {
    let least = match host::upkeep::disk_free_bytes_min(settings) {
        Ok(least) => least,
        Err(error) => return Finding::Wrong(format!("{error:#}")),
    };
    match host::upkeep::free_bytes(dir) {
        Err(error) => Finding::Skipped(format!("the operating system does not report the free space: {error}")),
        Ok(bytes) if bytes < least => Finding::Wrong(format!(
            "full: {bytes} bytes are left, and [admin] disk_free_bytes_min is {least}"
        )),
        Ok(bytes) if bytes < LEAST_FREE_BYTES => Finding::Doubtful(format!("only {} MiB free", bytes >> 20)),
        Ok(bytes) => Finding::Well(format!("{} GiB free", bytes >> 30)),
    }
}

/// Connects to the servers and compares the contents of their stores.
async fn check_servers(settings: Settings, repair: bool, report: &mut Report) {
    let ctx = match Context::connect_for_service("gateway", settings).await {
        Ok(ctx) => ctx,
        Err(error) => return report.add_finding("servers", Finding::Wrong(format!("{error:#}"))),
    };
    for _ in 0..PATIENCE {
        if ctx.readiness.missing_components().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let missing = ctx.readiness.missing_components();
    if missing.is_empty() {
        report.add_finding(
            "servers",
            Finding::Well("nats, neo4j and qdrant are provisioned".into()),
        );
        let compared = compare_stores(&ctx, repair).await;
        report.add_finding(
            "stores",
            compared.unwrap_or_else(|error| Finding::Wrong(format!("{error:#}"))),
        );
    } else {
        report.add_finding("servers", Finding::Wrong(missing.join("; ")));
    }
    ctx.shutdown.cancel();
}

/// Compares the stores of a folder. A repair needs the writer, which then runs in this process.
async fn embedded_stores(ctx: &Context, repair: bool) -> anyhow::Result<Finding> {
    if !repair {
        return compare_stores(ctx, false).await;
    }
    let compared = async {
        let outcome = compare_stores(ctx, true).await;
        ctx.shutdown.cancel();
        outcome
    };
    let (written, compared) = tokio::join!(writer::run(ctx.clone()), compared);
    written?;
    compared
}

/// Compares the contents of the stores; with `repair`, derives the drifted data again.
async fn compare_stores(ctx: &Context, repair: bool) -> anyhow::Result<Finding> {
    let mut spaces = drift::compare_all_spaces(ctx).await?;
    let mut mended = String::new();
    if repair {
        let drifted: Vec<&drift::SpaceDrift> = spaces.iter().filter(|it| it.describe_drift().is_some()).collect();
        for space_drift in &drifted {
            drift::repair_space(ctx, space_drift).await?;
        }
        if !drifted.is_empty() {
            let was: Vec<String> = drifted.iter().filter_map(|it| it.describe_drift()).collect();
            mended = format!("; repaired {}", was.join("; "));
            spaces = drift::compare_all_spaces(ctx).await?;
        }
    }
    let drifted: Vec<String> = spaces.iter().filter_map(drift::SpaceDrift::describe_drift).collect();
    let unfinished = unfinished_erasures(ctx, repair).await?;
    let dead = ctx.backends.dead_letters.count().await?;
    let sum = |count: fn(&drift::SpaceDrift) -> u64| spaces.iter().map(count).sum::<u64>();
    if !drifted.is_empty() {
        return Ok(Finding::Wrong(format!(
            "{}; `mnemic doctor --repair` derives them again",
            drifted.join("; ")
        )));
    }
    let dead = (dead > 0).then(|| format!("{dead} dead letters; see /v1/admin/dead-letters"));
    let doubts: Vec<String> = unfinished
        .into_iter()
        .chain(dead)
        .chain(describe_units_of_older_rules(&spaces))
        .collect();
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
    let unfinished = records.unfinished_erasures(None, ERASURES_MAX).await?;
    let Some(first) = unfinished.first() else {
        return Ok(None);
    };
    Ok(Some(format!(
        "{} deleted spaces are not erased in every store yet, such as {}; the gateway completes the erasure by \
         itself, `mnemic doctor --repair` completes it now",
        unfinished.len(),
        first.space
    )))
}

/// Returns a sentence about units that were written by older rules; `None` if there are none.
fn describe_units_of_older_rules(spaces: &[drift::SpaceDrift]) -> Option<String> {
    let aged: Vec<&drift::SpaceDrift> = spaces.iter().filter(|it| it.older > 0).collect();
    let first = aged.first()?;
    let units: usize = aged.iter().map(|it| it.older).sum();
    Some(format!(
        "{units} units in {} spaces were written by older rules; `mnemic rebuild {}` writes the units of a space again",
        aged.len(),
        first.space
    ))
}

/// Asks the server at the URL of the command, or else at the address on which these settings listen.
async fn check_http_server(args: &Doctor, listen: &str) -> Finding {
    let own_url = url_of_listen_address(listen);
    let url = args.url.as_ref().unwrap_or(&own_url);
    let origin = match &args.url {
        None => " (`listen` of [gateway]; --url names another address)".to_owned(),
        Some(given) if given.trim_end_matches('/') == own_url => String::new(),
        Some(_) => format!(" (--url or MNEMIC_URL; the settings listen on {listen})"),
    };
    let spaces = match Client::new(url, args.key.clone()) {
        Ok(client) => client.list_spaces().await,
        Err(error) => return Finding::Wrong(format!("{error:#}")),
    };
    match spaces {
        Ok(spaces) => Finding::Well(format!("{url} answers; visible spaces: {}{origin}", spaces.len())),
        Err(crate::api::Error::Unreachable { .. }) => Finding::Doubtful(format!("no server answers at {url}{origin}")),
        Err(error @ crate::api::Error::Refused { status: 401 | 403, .. }) => match args.key {
            None => Finding::Well(format!("{url} answers; it needs a key (MNEMIC_KEY){origin}")),
            Some(_) => Finding::Doubtful(format!(
                "{url} answers, but refuses the key (MNEMIC_KEY): {error}{origin}"
            )),
        },
        Err(error) => Finding::Wrong(format!("{url}: {error}{origin}")),
    }
}

/// Returns the URL of a server on this machine that listens on an address. If it listens on all addresses, this is
/// loopback.
fn url_of_listen_address(listen: &str) -> String {
    let host_and_port = match listen.parse::<SocketAddr>() {
        Ok(mut address) if address.ip().is_unspecified() => {
            address.set_ip(match address.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
            address.to_string()
        }
        Ok(_) | Err(_) => listen.to_owned(),
    };
    format!("http://{host_and_port}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_asked_on_loopback() {
        for (listen, url) in [
            ("127.0.0.1:7510", "http://127.0.0.1:7510"),
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:7077", "http://[::1]:7077"),
            ("localhost:7077", "http://localhost:7077"),
        ] {
            assert_eq!(url_of_listen_address(listen), url);
        }
    }
}
