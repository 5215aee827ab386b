//! Receipts of erasures, and the check for erased data: by the server in the stores, by this process in files.

mod file_search;

use std::fs::FileType;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use gateway::api::{Erasure, ErasureCheck, ErasureState, Presence, StoreCheck};
use serde::Serialize;

use crate::api::Client;
use crate::args::{CheckErasure, Erasures, ErasuresCommand};
use crate::local_commands::{backup, settings};
use crate::{Outcome, output};
use file_search::{Sighting, Text};

/// Length limit of the text to search for, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The result of a check, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    stores: &'a ErasureCheck,
    files: &'a [FileCheck],
}

/// The result of searching one file.
#[derive(Serialize)]
struct FileCheck {
    file: PathBuf,
    #[serde(flatten)]
    sighting: Sighting,
}

/// Lists, shows and checks receipts of erasures.
pub(crate) async fn run_erasures_command(args: &Erasures) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    match &args.command {
        ErasuresCommand::List { space, json } => {
            let mut erasures = client.list_erasures(space).await?;
            erasures.sort_by_key(|it| (it.requested_at, it.id));
            for erasure in &erasures {
                match json {
                    true => output::say_json_line(erasure)?,
                    false => output::print_line(&erasure_line(erasure)),
                }
            }
            if erasures.is_empty() && !json {
                output::print_line("no erasures");
            }
        }
        ErasuresCommand::Show { id, space } => output::say_json(&client.get_erasure(space, id).await?)?,
        ErasuresCommand::Check(args) => return check_erasure(&client, args).await,
    }
    Ok(Outcome::Done)
}

async fn check_erasure(client: &Client, args: &CheckErasure) -> anyhow::Result<Outcome> {
    let text = args.stdin.then(text_of_stdin).transpose()?;
    let stores = client.check_erasure(&args.space, &args.id).await?;
    let mut files = Vec::new();
    if let Some(text) = &text {
        for file in files_to_scan(args)? {
            let sighting = match text.seek_in(&file) {
                // The server removes mapped files, and a log may be rotated.
                Err(error) if error.kind() == ErrorKind::NotFound && !args.files.contains(&file) => continue,
                outcome => outcome.with_context(|| format!("{} cannot be read", file.display()))?,
            };
            files.push(FileCheck { file, sighting });
        }
    }
    if args.json {
        output::say_json(&Report {
            stores: &stores,
            files: &files,
        })?;
    } else {
        output::print_line(&erasure_line(&stores.erasure));
        for store in &stores.stores {
            output::print_line(&store_line(store));
        }
        for it in &files {
            output::print_line(&format!("{}: {}", it.file.display(), it.sighting));
        }
    }
    let absent = stores.absent && files.iter().all(|it| it.sighting.is_nothing());
    Ok(if absent { Outcome::Done } else { Outcome::Lacking })
}

fn text_of_stdin() -> anyhow::Result<Text> {
    let mut text = String::new();
    let mut input = std::io::stdin().lock().take(TEXT_BYTES_MAX + 1);
    input
        .read_to_string(&mut text)
        .context("standard input is not UTF-8 text")?;
    ensure!(
        text.len() as u64 <= TEXT_BYTES_MAX,
        "the text on standard input has more than {TEXT_BYTES_MAX} bytes; search for a part of it"
    );
    Text::new(text.trim())
        .context("the text on standard input has fewer than 4 bytes; give a longer part of the erased text")
}

/// Returns the files of the memory on this machine, if there are any, with its mapped files, and the named files; for a
/// named folder, the files directly in it.
fn files_to_scan(args: &CheckErasure) -> anyhow::Result<Vec<PathBuf>> {
    let settings = settings::load_settings(&args.local)?;
    let own = backup::embedded_directory(&settings)?.filter(|it| it.is_dir());
    ensure!(
        own.is_some() || !args.files.is_empty(),
        "there is no memory on this machine; give its folder with --data, or files to search"
    );
    let folders_of_mapped_files = match &own {
        Some(folder) => entries_of_type(folder, FileType::is_dir)?,
        None => Vec::new(),
    };
    let mut files = Vec::new();
    for path in own.iter().chain(&folders_of_mapped_files).chain(&args.files) {
        if path.is_dir() {
            files.extend(entries_of_type(path, FileType::is_file)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Returns the entries of a folder of the type that `is_wanted` accepts, by name.
fn entries_of_type(folder: &Path, is_wanted: fn(&FileType) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if is_wanted(&entry.file_type()?) {
                paths.push(entry.path());
            }
        }
        paths.sort();
        Ok(paths)
    };
    list().with_context(|| format!("{} cannot be listed", folder.display()))
}

fn erasure_line(erasure: &Erasure) -> String {
    let at = erasure.requested_at.format("%Y-%m-%d %H:%M");
    let by = if erasure.by.is_empty() { "-" } else { &erasure.by };
    let counts: Vec<String> = erasure
        .erased
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let state = match (erasure.state, erasure.completed_at) {
        (ErasureState::Complete, Some(at)) => format!("complete {}", at.format("%Y-%m-%d %H:%M:%S")),
        (ErasureState::Complete, None) => "complete".to_owned(),
        (ErasureState::Erasing, _) => "being done".to_owned(),
    };
    let kind = match erasure.kind {
        domain::erasure::ErasureKind::Records => "records",
        domain::erasure::ErasureKind::Space => "the space",
    };
    format!(
        "{}  {at}  {by} erased {kind}: {}; {state}",
        erasure.id,
        counts.join(", ")
    )
}

fn store_line(store: &StoreCheck) -> String {
    let what = match store.outcome {
        Presence::Absent => "absent".to_owned(),
        Presence::NotChecked => format!("not checked: {}", store.detail),
        Presence::Found => {
            let found = store.found.iter().filter(|(_, count)| **count > 0);
            let found: Vec<String> = found.map(|(kind, count)| format!("{count} {kind}")).collect();
            format!("found: {}", found.join(", "))
        }
    };
    format!("{}: {what}", store.store)
}
