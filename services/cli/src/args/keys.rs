use clap::builder::PossibleValuesParser;
use clap::{Subcommand, value_parser};

use super::Remote;

/// Longest time for which a token stays valid beside its successor, in seconds.
const GRACE_SECONDS_MAX: i64 = 86_400;

/// Make keys: one for the settings file, or keys that a server keeps in its store.
///
/// `new` works without a server. The other commands speak to one, with a key that has the right `admin` over all spaces; the first
/// of those has to be a key of the settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic keys new
  mnemic keys create billing --space \"user-*\" --right read --right write --expires 2027-01-01
  mnemic keys create trial --space trial --right read --requests-per-minute 60 --records-per-day 1000
  mnemic keys list
  mnemic keys rotate billing --grace-seconds 3600
  mnemic keys revoke billing")]
pub(crate) struct Keys {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Print a fresh key, and the lines for the settings file that let it in. Only the digest is ever stored.
    New,
    /// Make a key on a server, and print its token, which is shown only now.
    Create(CreateKey),
    /// List the keys that were made on a server, with those that are expired or revoked.
    List {
        /// Print the keys as the server has them, a line each.
        #[arg(long)]
        json: bool,
    },
    /// Give a key a new token, and print it; it is shown only now.
    Rotate {
        /// The name of the key.
        name: String,
        /// Seconds for which the token before it stays valid, at most a day.
        #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = value_parser!(u32).range(0..=GRACE_SECONDS_MAX))]
        grace_seconds: u32,
        /// Print the server's response as it is.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key with all its tokens, at once and for good.
    Revoke {
        /// The name of the key.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateKey {
    /// Its name: 1 to 64 letters, digits, '.', '_' and '-'.
    pub(crate) name: String,
    /// A space that it opens, the beginning of names with '*' behind it, or '*' for all; may be repeated.
    #[arg(long = "space", short, value_name = "SPACE", required = true)]
    pub(crate) spaces: Vec<String>,
    /// What it may do there; may be repeated.
    #[arg(long = "right", value_name = "RIGHT", required = true, value_parser = PossibleValuesParser::new(["read", "write", "admin"]))]
    pub(crate) rights: Vec<String>,
    /// From when on it is no longer valid; RFC 3339, or ISO 8601 in UTC [default: it does not expire].
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// Most requests a minute [default: no bound].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) requests_per_minute: Option<u32>,
    /// Most new records a day (UTC) [default: no bound].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) records_per_day: Option<u32>,
    /// Print the server's response as it is.
    #[arg(long)]
    pub(crate) json: bool,
}
