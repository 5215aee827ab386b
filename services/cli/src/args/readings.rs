use domain::id::SpaceId;

use super::Remote;

/// Have a language model read the records of a space that it has not read.
///
/// The server's writer reads session after session, within its budget of calls and tokens ([writer.readings]), and derives
/// gists, relations and facts from the replies. The command shows how far it is until no session waits. Ctrl-C ends the
/// command and not the reading: run it again to see how far it is. Needs the right `admin`.
///
/// It ends with code 3 if readings failed, or if sessions still wait and nothing has changed for --wait seconds: no language
/// model is set up, it does not answer, or the budget of the day is spent.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic read ann --dry-run            how much there is to read, and what it may cost
  mnemic read ann
  mnemic read ann --session monday
  mnemic read ann --again              read once more where a reading failed, and describe what pictures there are
  mnemic read ann --wait 0             start it and do not wait")]
pub(crate) struct Read {
    /// The space.
    pub(crate) space: SpaceId,
    /// Only print how many sessions and records were not read, and an estimate of calls and tokens.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Remove the readings that failed first, so that their records are read again, and have pictures described that nobody
    /// described.
    #[arg(long)]
    pub(crate) again: bool,
    /// Seconds without any change after which the command ends.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) wait: u32,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List the readings of a space: what a language model read, what was derived from it, what failed and what it cost.
///
/// A line each, oldest first: when, which records, what was read (a passage, a pair of events), how many gists, facts and relations,
/// or why it failed.
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
    /// Show what the model said and the records do not bear out, too.
    #[arg(long)]
    pub(crate) left_out: bool,
    /// Print the readings as the server has them, a line each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
