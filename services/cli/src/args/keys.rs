use clap::builder::PossibleValuesParser;
use clap::{Subcommand, value_parser};

use super::Remote;

/// Longest time that an old token stays valid after a rotation, in seconds.
const GRACE_SECONDS_MAX: i64 = 86_400;

/// Create keys, for the settings file or in the store of a server.
///
/// `new` works without a server. The other commands talk to a server with a key that has the right `admin` for all
/// spaces; the first such key has to be in the settings.
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
    /// Print a new key, and the lines for the settings file that allow it. Only the digest is ever stored.
    New,
    /// Create a key on a server and print its token. The token is shown only once.
    Create(CreateKey),
    /// List the keys that were created on a server, including expired and revoked keys.
    List {
        /// Print the keys as the server returns them, one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Give a key a new token and print it. The token is shown only once.
    Rotate {
        /// Name of the key.
        name: String,
        /// Seconds for which the previous token stays valid, at most one day.
        #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = value_parser!(u32).range(0..=GRACE_SECONDS_MAX))]
        grace_seconds: u32,
        /// Print the response of the server unchanged.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key with all its tokens, immediately and permanently.
    Revoke {
        /// Name of the key.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateKey {
    /// Name of the key: 1 to 64 characters from a-z, A-Z, 0-9, '.', '_' and '-'; the first one is a letter or digit.
    pub(crate) name: String,
    /// Space that the key opens: a name, a prefix followed by '*', or '*' for all; may be repeated.
    #[arg(long = "space", short, value_name = "SPACE", required = true)]
    pub(crate) spaces: Vec<String>,
    /// Right that the key has there; may be repeated.
    #[arg(long = "right", value_name = "RIGHT", required = true, value_parser = PossibleValuesParser::new(["read", "write", "admin"]))]
    pub(crate) rights: Vec<String>,
    /// Time at which the key expires; RFC 3339, or ISO 8601 in UTC [default: it does not expire].
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<String>,
    /// Maximum number of requests per minute [default: no limit].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) requests_per_minute: Option<u32>,
    /// Maximum number of new records per day (UTC) [default: no limit].
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) records_per_day: Option<u32>,
    /// Print the response of the server unchanged.
    #[arg(long)]
    pub(crate) json: bool,
}
