//! The counts of an import, and their output.

use std::collections::VecDeque;

use gateway::api::{Accepted, ItemStatus};
use indicatif::{ProgressBar, ProgressStyle};

use crate::import::formats::format::Kind;
use crate::import::input::line::{Complaints, Line};
use crate::import::record_draft::LeftOut;
use crate::import::sending::messages::{NOT_STORED, says_nothing_is_left};
use crate::output;

/// Maximum number of invalid pieces that are reported one by one; the others are only counted.
pub(crate) const NAMED: u64 = 50;

/// Whether the records that were sent are searchable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searchability {
    All,
    /// The server did not finish writing in the time of the wait.
    StillWriting,
    /// The key lacks the right `read`.
    Unknown,
}

impl Searchability {
    fn in_words(self) -> &'static str {
        match self {
            Searchability::All => "all searchable",
            Searchability::StillWriting => "the server is still writing",
            Searchability::Unknown => "the key may not check whether they are searchable",
        }
    }
}

/// The counts of pieces by outcome, and the progress bar.
pub(crate) struct Tally {
    pub(crate) bar: ProgressBar,
    pub(crate) accepted: u64,
    pub(crate) known: u64,
    pub(crate) readings: u64,
    pub(crate) wrong: u64,
    /// Pieces left out by an earlier import of the same file.
    pub(crate) wrong_before: u64,
    /// Watermarks of the batches that may not be searchable yet, the latest last.
    pub(crate) watermarks: VecDeque<String>,
    /// True if readings are left out: the server has no route for them, or the key lacks the right `read`.
    pub(crate) lacks_readings: bool,
    pub(crate) on_purpose: LeftOut,
    /// True if some of `wrong` are only parts of a line, such as a tool call of a chat message.
    has_wrong_parts: bool,
}

impl Tally {
    /// Returns a tally that continues an earlier import of the same file; `bytes` is the length of the input, 0 if unknown.
    pub(crate) fn new(bytes: u64, wrong_before: u64, watermark: Option<String>) -> Tally {
        Tally {
            bar: byte_progress_bar(bytes),
            accepted: 0,
            known: 0,
            readings: 0,
            wrong: 0,
            wrong_before,
            watermarks: watermark.into_iter().collect(),
            lacks_readings: false,
            on_purpose: LeftOut::default(),
            has_wrong_parts: false,
        }
    }

    /// Counts the outcome of the records of a request.
    pub(crate) fn count_outcomes(&mut self, lines: &[Line], accepted: Accepted) {
        self.on_purpose.count_several(NOT_STORED, accepted.left_out as u64);
        for item in accepted.items {
            match item.status {
                ItemStatus::Accepted => self.accepted += 1,
                ItemStatus::Duplicate => self.known += 1,
                ItemStatus::Rejected => {
                    let why = item.problem.as_deref();
                    let why = why.map_or("", |it| if it.detail.is_empty() { &it.title } else { &it.detail });
                    let line = lines.get(item.index);
                    let place = line.map_or("a record of this batch", |it| it.place.as_str());
                    // A tool call of a chat message has an id of its own.
                    let is_whole_line = line.is_some_and(|it| it.content["id"] == item.id.as_str());
                    if is_whole_line || item.id.is_empty() {
                        self.report_skipped(place, why);
                    } else {
                        self.has_wrong_parts = true;
                        self.report_skipped(&format!("{place} ({})", item.id), why);
                    }
                }
            }
        }
        self.watermarks.push_back(accepted.watermark);
    }

    /// Returns the number of pieces that were left out as invalid, by this import and earlier ones of the file.
    pub(crate) fn wrong_in_all(&self) -> u64 {
        self.wrong_before + self.wrong
    }

    /// Prints the outcome: `skipped` pieces were imported earlier, and `pieces` were read.
    pub(crate) fn print_outcome(&self, kind: Kind, skipped: u64, pieces: u64, searchability: Searchability) {
        let mut parts = vec![format!("{} records in", self.accepted)];
        if self.readings > 0 {
            parts.push(format!("{} readings in", self.readings));
        }
        if self.known > 0 {
            parts.push(format!("{} were there before", self.known));
        }
        if skipped > 0 {
            parts.push(format!("{skipped} {} were read earlier", kind.plural_piece_name()));
        }
        if self.wrong_in_all() > 0 {
            parts.push(match kind {
                Kind::Records if !self.has_wrong_parts && self.wrong_in_all() <= pieces => {
                    format!("{} of {pieces} lines left out", self.wrong_in_all())
                }
                Kind::Records
                | Kind::ChatGpt
                | Kind::Claude
                | Kind::Mem0
                | Kind::Hindsight
                | Kind::Text
                | Kind::Markdown => {
                    format!("{} left out as invalid", self.wrong_in_all())
                }
            });
        }
        if self.wrong_before > 0 {
            parts.push(format!(
                "{} of them earlier: --restart sends them again",
                self.wrong_before
            ));
        }
        output::print_line(&format!("{}; {}", parts.join(", "), searchability.in_words()));
    }
}

impl Complaints for Tally {
    fn report_skipped(&mut self, place: &str, problem: &str) {
        self.wrong += 1;
        if self.wrong <= NAMED {
            self.bar
                .suspend(|| output::print_error_line(&format!("{place}: {problem}")));
        }
    }

    fn left_out(&mut self) -> &mut LeftOut {
        &mut self.on_purpose
    }
}

/// Prints the content that was not imported because it is not part of a memory.
pub(crate) fn say_left_out(left_out: &LeftOut, passed_over: Vec<String>) {
    let mut all = left_out.in_words();
    all.extend(passed_over);
    if !all.is_empty() {
        output::print_line(&format!("not imported: {}", all.join(", ")));
    }
}

fn byte_progress_bar(bytes: u64) -> ProgressBar {
    let template = match bytes {
        0 => "{bytes} {elapsed}",
        _ => "[{bar:40}] {bytes}/{total_bytes} {elapsed}, {eta} left",
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Returns the halves of a refused batch, the second half first. A single line is the cause of the refusal; it is
/// reported with the reason, unless it is a chat message that the server does not store in any batch.
pub(crate) fn halve_batch<'a>(lines: &'a [Line], reason: &str, tally: &mut Tally) -> Vec<&'a [Line]> {
    match lines {
        [] => Vec::new(),
        [_] if says_nothing_is_left(reason) => {
            tally.on_purpose.count_one(NOT_STORED);
            Vec::new()
        }
        [line] => {
            tally.report_skipped(&line.place, reason);
            Vec::new()
        }
        _ => {
            let (first, second) = lines.split_at(lines.len() / 2);
            vec![second, first]
        }
    }
}
