mod ask;
mod derived_objects;
mod erasures;
mod facts_and_hints;
mod keys;
mod readings;
mod records;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use domain::id::SpaceId;

pub(crate) use ask::Ask;
pub(crate) use derived_objects::{Curations, Entities, Pages, Topics};
pub(crate) use erasures::{CheckErasure, Erasures, ErasuresCommand};
pub(crate) use facts_and_hints::{Facts, Mcp, Recall, Units};
pub(crate) use keys::{CreateKey, Keys, KeysCommand};
pub(crate) use readings::{Read, Readings};
pub(crate) use records::{Erase, Export, Format, Import, ListFilters, Records};

const AFTER_HELP: &str = "\
First steps:
  mnemic demo                           see what a memory does, in half a minute
  mnemic serve                          run a server; /docs has the HTTP interface
  mnemic import talk.jsonl -s ann       import a conversation
  mnemic ask \"Where is Ann?\" -s ann    get evidence and an answer
  mnemic facts -s ann                   list the facts that it believes, with their dates
  mnemic mcp -s ann                     serve as the memory of an agent that speaks MCP

Commands that speak to a server find it by --url or MNEMIC_URL, and show it the key in --key
or MNEMIC_KEY.

Exit codes:
  0  done
  1  failed
  2  wrong command line
  3  done, but the result is negative: lines were left out, the evidence is
     insufficient, sessions wait to be read, erased data was found,
     doctor found a problem, or provision found drift";

/// A long-term memory for language-model agents: it stores what happened and returns the smallest evidence that answers
/// a question.
#[derive(Debug, Parser)]
#[command(name = "mnemic", version, after_help = AFTER_HELP, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Provision(Provision),
    Demo(Demo),
    Import(Import),
    Export(Export),
    Ask(Ask),
    Facts(Facts),
    Units(Units),
    Topics(Topics),
    Pages(Pages),
    Entities(Entities),
    Curations(Curations),
    Recall(Recall),
    Read(Read),
    Readings(Readings),
    Mcp(Mcp),
    Records(Records),
    Erase(Erase),
    Erasures(Erasures),
    Spaces(Spaces),
    DeadLetters(DeadLetters),
    Doctor(Doctor),
    Rebuild(Rebuild),
    Backup(Backup),
    Restore(Restore),
    Config(Config),
    Keys(Keys),
    Completions(Completions),
}

/// The source of the settings.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Local {
    /// Settings file [default: the file in MNEMIC_CONFIG, else mnemic.toml in this folder, if it exists].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder of the memory; overrides `dir` in [backends].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// The server that a command talks to.
#[derive(Debug, clap::Args)]
pub(crate) struct Remote {
    /// URL of the server; http:// may be omitted.
    #[arg(long, global = true, env = "MNEMIC_URL", default_value = "http://127.0.0.1:7077", value_parser = parse_server_url)]
    pub(crate) url: String,
    /// Key for the server, if the server requires one.
    #[arg(long, global = true, env = "MNEMIC_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
}

/// Returns the URL of a server; adds the scheme if the user typed only host and port.
fn parse_server_url(text: &str) -> Result<String, Infallible> {
    let has_scheme = text.contains("://");
    Ok(if has_scheme {
        text.to_owned()
    } else {
        format!("http://{text}")
    })
}

/// Returns an address to listen on if it is valid: an IP address or a host name, with a port.
fn parse_listen_address(text: &str) -> Result<String, String> {
    let has_host_name = text
        .rsplit_once(':')
        .is_some_and(|(name, port)| !name.is_empty() && !name.contains(':') && port.parse::<u16>().is_ok());
    if has_host_name || text.parse::<SocketAddr>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err("is not an address like 127.0.0.1:7077, localhost:7077 or [::1]:7077".to_owned())
    }
}

/// Run all of Mnemic in this process.
///
/// HTTP gateway, writer, clusterer, router and reader, over files in one folder: no other server, no model, no network.
/// Every setting can be in a TOML file or in the environment (MNEMIC_GATEWAY__LISTEN is `listen` in [gateway]); `mnemic
/// config` shows all of them. After Ctrl-C the process accepts no more work, finishes the requests in progress and
/// exits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic serve
  mnemic serve --data /var/lib/mnemic --listen 127.0.0.1:8080
  mnemic provision && mnemic serve --distributed   # on NATS, Qdrant and Neo4j
  MNEMIC_TELEMETRY__OTLP_ENDPOINT=http://127.0.0.1:4318 mnemic serve

To accept requests from other machines, create a key first: mnemic keys new")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Address of the HTTP interface [default: 127.0.0.1:7077].
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen_address)]
    pub(crate) listen: Option<String>,
    /// Address of the health checks and metrics [default: 127.0.0.1:7078].
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen_address)]
    pub(crate) admin: Option<String>,
    /// Store everything in NATS, Qdrant and Neo4j instead of a folder; [nats], [qdrant] and [neo4j] set their addresses.
    #[arg(long, conflicts_with = "data")]
    pub(crate) distributed: bool,
}

/// Create the streams, collections and constraints that Mnemic needs in NATS, Qdrant and Neo4j.
///
/// Run it before the first start and after every update; a repeated run changes nothing. If an existing object differs
/// from the needs of this version, the command names the difference and leaves the object unchanged (exit code 3).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  MNEMIC_NATS__URL=nats://nats:4222 MNEMIC_QDRANT__URL=http://qdrant:6334 \\
    MNEMIC_NEO4J__URL=bolt://neo4j:7687 MNEMIC_NEO4J__PASSWORD=... mnemic provision")]
pub(crate) struct Provision {
    /// Settings file [default: the file in MNEMIC_CONFIG, else mnemic.toml in this folder, if it exists].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Show what a memory does: a sample conversation, six questions, evidence, answers, a refusal.
///
/// Starts its own server on a free port, with a temporary folder that is removed at the end. Nothing else on this
/// machine is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Keep the server running at the end, until Ctrl-C.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// List, create and delete spaces.
///
/// A space is an isolated memory, for example of a user, an agent or a project. Spaces share no data.
#[derive(Debug, clap::Args)]
pub(crate) struct Spaces {
    #[command(subcommand)]
    pub(crate) command: SpacesCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpacesCommand {
    /// List the spaces that the key may see, with their sizes.
    List,
    /// Create a space; an existing space is left unchanged.
    Create {
        /// Name of the space: 1 to 64 characters from a-z, 0-9, '.', '_' and '-'; the first one is a letter or digit.
        space: SpaceId,
    },
    /// Erase a space with all its data, permanently.
    Delete {
        /// Name of the space.
        space: SpaceId,
        /// Confirm the erasure.
        #[arg(long)]
        yes: bool,
    },
}

/// List, show, replay and discard messages that could not be processed.
///
/// A message that fails several times is set aside as a dead letter, so that later messages are not delayed. Needs a
/// key with the right `admin`, if the server has keys.
#[derive(Debug, clap::Args)]
pub(crate) struct DeadLetters {
    #[command(subcommand)]
    pub(crate) command: DeadLettersCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List the dead letters, oldest first, with the reasons.
    List,
    /// Show one dead letter with its payload.
    Show {
        /// Number or id, as in the list.
        id: String,
    },
    /// Deliver a dead letter again, to the consumer group that gave it up.
    Replay {
        /// Number or id, as in the list.
        id: String,
    },
    /// Delete a dead letter without processing it.
    Discard {
        /// Number or id, as in the list.
        id: String,
    },
}

/// Check this installation: settings, files or servers, drift between the stores, language models, the server.
///
/// Only reads, unless --repair is given. Parts that cannot be checked are reported as skipped, with the reason. Drift
/// is counted for each space: records without a unit, units without a record, missing or surplus points. Each language
/// model in the settings gets one small question, which costs about 200 tokens.
///
/// On NATS, Qdrant and Neo4j the command uses the settings and credentials of the gateway.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Repair the drift: derive the affected data again from the stored records.
    #[arg(long)]
    pub(crate) repair: bool,
    /// URL of the server [default: the address in `listen` of [gateway]]; http:// may be omitted.
    #[arg(long, env = "MNEMIC_URL", value_parser = parse_server_url)]
    pub(crate) url: Option<String>,
    /// Key for the server, if the server requires one.
    #[arg(long, env = "MNEMIC_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
}

/// Derive a space again from its records, for example after an update; the space stays searchable meanwhile.
///
/// Units are written to a new generation of the index, which then replaces the old one. Records, curations and ids do
/// not change. Needs the right `admin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic rebuild ann")]
pub(crate) struct Rebuild {
    /// The space.
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Write a consistent copy of the memory to a file; the server may be running.
///
/// `mnemic restore` restores the copy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic backup /backups/mnemic-2026-03-02.sqlite --data /var/lib/mnemic")]
pub(crate) struct Backup {
    /// File to write; it must not exist.
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) local: Local,
}

/// Replace the memory with a copy that `mnemic backup` wrote. Stop Mnemic first.
///
/// The copy is verified before anything changes: the file must be intact, and no record, unit, derived object, act of
/// curation or reading in it may have been modified. The present memory is kept in the same folder, under a name that
/// ends with the time. Records written after the copy are not in it, and records erased after the copy are in it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic restore /backups/mnemic-2026-03-02.sqlite --data /var/lib/mnemic")]
pub(crate) struct Restore {
    /// The copy; it is not changed.
    pub(crate) source: PathBuf,
    #[command(flatten)]
    pub(crate) local: Local,
}

/// Print all settings in effect as TOML, with defaults; secrets are masked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic config --sample > mnemic.toml          a file to start from
  mnemic config --schema > mnemic.schema.json   the schema with which editors check it")]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Print a settings file with every setting, its default and its description, all commented out.
    #[arg(long, conflicts_with = "schema")]
    pub(crate) sample: bool,
    /// Print the JSON schema of the settings file.
    #[arg(long)]
    pub(crate) schema: bool,
}

/// Print the completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic completions bash > ~/.local/share/bash-completion/completions/mnemic
  mnemic completions zsh > \"${fpath[1]}/_mnemic\"
  mnemic completions fish > ~/.config/fish/completions/mnemic.fish")]
pub(crate) struct Completions {
    /// Shell for which to print the script.
    pub(crate) shell: Shell,
}
