use domain::id::SpaceId;

use super::Remote;

/// Let a language model read the unread records of a space.
///
/// The server's writer reads one session after another, within its budget of calls and tokens ([writer.readings]), and
/// derives gists, relations and facts from the replies. The command shows the progress until no session is waiting.
/// Ctrl-C ends the command but not the reading: run it again to see the progress. Needs the right `admin`.
///
/// The exit code is 3 if readings failed, or if sessions are still waiting and nothing has changed for --wait seconds:
/// no language model is configured, it does not answer, or the budget of the day is used up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic read ann --dry-run            print how much there is to read, and the estimated cost
  mnemic read ann
  mnemic read ann --session monday
  mnemic read ann --again              repeat failed readings, and describe pictures
  mnemic read ann --wait 0             start it and do not wait")]
pub(crate) struct Read {
    /// The space.
    pub(crate) space: SpaceId,
    /// Print only the numbers of unread sessions and records, and an estimate of calls and tokens.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Read only this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// First remove the failed readings, so that their records are read again, and describe pictures that have no
    /// description yet.
    #[arg(long)]
    pub(crate) again: bool,
    /// Seconds without any change after which the command ends.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wait: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the readings of a space: the records read by a language model, the results, failures and costs.
///
/// One reading per line, oldest first: time, records, what was read (a passage, a pair of events), and the numbers of
/// gists, facts and relations, or the reason for a failure.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic readings --space ann
  mnemic readings --space ann --left-out
  mnemic readings --space ann --json | jq 'select(.state == \"failed\")'")]
pub(crate) struct Readings {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Show also statements of the model that the records do not support.
    #[arg(long)]
    pub(crate) left_out: bool,
    /// Print the readings as the server returns them, one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
