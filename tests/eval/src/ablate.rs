//! Ablations measure how much each part of the memory contributes to the answers, with everything else unchanged.
//!
//! 1. The conversations are sent once to a server that has its own folder. If the server has a language model, the
//!    model reads them.
//! 2. That server is stopped, and another one over the same folder answers the questions.
//! 3. For each [`part::Part`], the folder is copied, the part is removed from the copy (`removal`), and a server over
//!    the copy answers the same questions.
//! 4. `compare` compares the runs.
//!
//! The servers of the steps 2 and 3 read nothing: a clusterer with a model scans every space at its start and would
//! derive the removed part again. If the part exists again after the questions, the run is invalid and ends with an
//! error.

pub mod compare;
pub mod contents;
pub mod part;
pub mod removal;

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use adapters::{Embedded, Options};
use anyhow::{Context, ensure};

use crate::data::{DataSet, read_lines};
use crate::drive::client::Client;
use crate::drive::server::{Server, Setting};
use crate::drive::{self, Asking, Spaces};
use crate::score::{self, Labels, Row};
use compare::{Ablation, compare_runs};
use contents::Contents;
use part::Part;
use removal::{RemovedParts, take_out};

/// Options of an ablation.
pub struct Ablating {
    /// Program that serves.
    pub program: PathBuf,
    /// Settings of the servers, as environment variables.
    pub settings: Vec<Setting>,
    /// How the questions are asked.
    pub asking: Asking,
    /// Gold labels that are used.
    pub labels: Labels,
    /// Parts, each removed alone.
    pub parts: Vec<Part>,
    /// Seed of the intervals.
    pub seed: u64,
    /// Folder for the runs: `whole.jsonl` and `without-PART.jsonl`.
    pub out: PathBuf,
}

/// Runs the questions with all parts, and once for each part without it.
///
/// # Errors
/// If a server cannot be started or does not answer, if a store cannot be changed, or if a part was not removed or
/// exists again.
pub async fn ablate_parts(data: &DataSet, ablating: &Ablating) -> anyhow::Result<Vec<Ablation>> {
    fs::create_dir_all(&ablating.out).with_context(|| format!("cannot create {}", ablating.out.display()))?;
    let scratch = Scratch::create()?;
    let base = scratch.0.join("whole");
    let spaces = drive::spaces_asked(data, &ablating.asking)?;
    let server = Server::start_in(&ablating.program, &base, &ablating.settings).await?;
    let client = Client::new(&server.url(), None)?;
    drive::import_data(&client, data, &spaces, ablating.asking.jobs).await?;
    for space in spaces.values() {
        client.wait_until_derived(space).await?;
    }
    tokio::time::sleep(ablating.asking.settle).await;
    drop(server);
    let server = Server::start_in(&ablating.program, &base, &settings_without_reading(ablating)).await?;
    let client = Client::new(&server.url(), None)?;
    let whole = ask_without_part(data, ablating, &client, &spaces, "whole").await?;
    drop(server);
    let mut ablations = Vec::new();
    for part in &ablating.parts {
        let dir = scratch.0.join(part.name());
        copy_folder(&base, &dir)?;
        ablations.push(ablate_part(data, ablating, &spaces, *part, &dir, &whole).await?);
        fs::remove_dir_all(&dir)?;
    }
    Ok(ablations)
}

async fn ablate_part(
    data: &DataSet,
    ablating: &Ablating,
    spaces: &Spaces<'_>,
    part: Part,
    dir: &Path,
    whole: &[Row],
) -> anyhow::Result<Ablation> {
    let removed = take_out_everywhere(dir, spaces, part).await?;
    ensure!(
        removed.after == 0,
        "{} {} are left after all were taken out",
        removed.after,
        part.name()
    );
    if removed.before == 0 {
        return Ok(compare_runs(part, 0, whole, &[], ablating.seed));
    }
    let server = Server::start_in(&ablating.program, dir, &settings_without_reading(ablating)).await?;
    let client = Client::new(&server.url(), None)?;
    let name = format!("without-{}", part.name());
    let without = ask_without_part(data, ablating, &client, spaces, &name).await?;
    drop(server);
    let left = count_everywhere(dir, spaces, part).await?;
    ensure!(
        left == 0,
        "{left} {} were derived again while questions were asked",
        part.name()
    );
    Ok(compare_runs(part, removed.before, whole, &without, ablating.seed))
}

/// Returns the settings of servers whose language model answers but reads nothing; earlier readings stay in effect.
fn settings_without_reading(ablating: &Ablating) -> Vec<Setting> {
    let off = [
        "MNEMIC_WRITER__READINGS__ENABLED",
        "MNEMIC_CLUSTERER__READINGS__ENABLED",
    ]
    .map(|name| Setting {
        name,
        value: PathBuf::from("false"),
    });
    ablating.settings.iter().cloned().chain(off).collect()
}

/// Asks the questions, stores the run under a name, and scores it.
async fn ask_without_part(
    data: &DataSet,
    ablating: &Ablating,
    client: &Client,
    spaces: &Spaces<'_>,
    name: &str,
) -> anyhow::Result<Vec<Row>> {
    let path = ablating.out.join(format!("{name}.jsonl"));
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let (_, failures) = drive::ask_all(client, data, spaces, &ablating.asking, &mut BufWriter::new(file)).await?;
    for failure in &failures {
        eprintln!("no line in {}: {failure:#}", path.display());
    }
    score::score_run(data, &read_lines(&path)?, ablating.labels)
}

/// Removes a part from every space of a folder that no server uses.
async fn take_out_everywhere(dir: &Path, spaces: &Spaces<'_>, part: Part) -> anyhow::Result<RemovedParts> {
    let stores = Embedded::open(dir, Options::default()).await?;
    let mut sum = RemovedParts::default();
    for space in spaces.values() {
        let removed = take_out(&*stores.graph, &*stores.index, space, part).await?;
        sum.before += removed.before;
        sum.after += removed.after;
    }
    Ok(sum)
}

async fn count_everywhere(dir: &Path, spaces: &Spaces<'_>, part: Part) -> anyhow::Result<usize> {
    let stores = Embedded::open(dir, Options::default()).await?;
    let mut count = 0;
    for space in spaces.values() {
        count += part.count(&Contents::read(&*stores.graph, space).await?);
    }
    Ok(count)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(())
}

/// A temporary folder, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn create() -> anyhow::Result<Scratch> {
        let dir = std::env::temp_dir().join(format!("mnemic-eval-ablate-{}", std::process::id()));
        fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(Scratch(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays in the temporary folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
