mod browse;
mod erasures;
mod keys;
mod memory;
mod readings;
mod records;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use domain::evidence::AnswerStyle;
use domain::id::SpaceId;
use gateway::api::Strategy;

pub(crate) use browse::{Curations, Entities, Pages, Topics};
pub(crate) use erasures::{CheckErasure, Erasures, ErasuresCommand};
pub(crate) use keys::{CreateKey, Keys, KeysCommand};
pub(crate) use memory::{Facts, Mcp, Recall, Units};
pub(crate) use readings::{Read, Readings};
pub(crate) use records::{Erase, Export, Format, Import, Records, Whose};

const AFTER_HELP: &str = "\
First steps:
  mnemic demo                           see what a memory does, in half a minute
  mnemic serve                          run a server; /docs has the HTTP interface
  mnemic import talk.jsonl -s ann       put a conversation in
  mnemic ask \"Where is Ann?\" -s ann    get evidence and an answer out
  mnemic facts -s ann                   see what it takes for true, since when
  mnemic mcp -s ann                     be the memory of an agent that speaks MCP

Commands that speak to a server find it by --url or MNEMIC_URL, and show it the key in --key
or MNEMIC_KEY.

Exit codes:
  0  done
  1  failed
  2  wrong command line
  3  done, but the answer is no: lines were left out, the evidence is
     insufficient, sessions wait to be read, doctor found something wrong,
     or provision found drift";

/// A long-term memory for language-model agents: it keeps what happened, and hands back the smallest evidence that
/// answers a question.
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

/// Where settings come from.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Local {
    /// Settings file [default: what MNEMIC_CONFIG names, else mnemic.toml in this folder, if there is one].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Folder with the memory; overrides `dir` in [backends].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
}

/// The server to speak to.
#[derive(Debug, clap::Args)]
pub(crate) struct Remote {
    /// URL of the server; http:// may be left out.
    #[arg(long, global = true, env = "MNEMIC_URL", default_value = "http://127.0.0.1:7077", value_parser = server)]
    pub(crate) url: String,
    /// Key for the server, if it asks for one.
    #[arg(long, global = true, env = "MNEMIC_KEY", hide_env_values = true)]
    pub(crate) key: Option<String>,
}

/// Returns the URL of a server that is named by host and port alone, as everybody types it.
fn server(text: &str) -> Result<String, Infallible> {
    let whole = text.contains("://");
    Ok(if whole {
        text.to_owned()
    } else {
        format!("http://{text}")
    })
}

/// Checks an address to listen on: an IP address or a name, and a port.
fn address(text: &str) -> Result<String, String> {
    let named = text
        .rsplit_once(':')
        .is_some_and(|(name, port)| !name.is_empty() && !name.contains(':') && port.parse::<u16>().is_ok());
    if named || text.parse::<SocketAddr>().is_ok() {
        Ok(text.to_owned())
    } else {
        Err("is not an address like 127.0.0.1:7077, localhost:7077 or [::1]:7077".to_owned())
    }
}

/// Run the whole of Mnemic in this process.
///
/// HTTP gateway, writer, clusterer, router and reader, over files in one folder: no other server, no model, no network.
/// Every setting can stand in a TOML file or in the environment (MNEMIC_GATEWAY__LISTEN is `listen` in [gateway]);
/// `mnemic config` shows all of them. Ctrl-C stops taking work, finishes what is in flight and ends.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic serve
  mnemic serve --data /var/lib/mnemic --listen 127.0.0.1:8080
  mnemic provision && mnemic serve --distributed   # on NATS, Qdrant and Neo4j
  MNEMIC_TELEMETRY__OTLP_ENDPOINT=http://127.0.0.1:4318 mnemic serve

To listen beyond this machine, make a key first: mnemic keys new")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Address of the HTTP interface [default: 127.0.0.1:7077].
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) listen: Option<String>,
    /// Address of health and metrics [default: 127.0.0.1:7078].
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) admin: Option<String>,
    /// Keep everything on NATS, Qdrant and Neo4j instead of in a folder; [nats], [qdrant] and [neo4j] say where they are.
    #[arg(long, conflicts_with = "data")]
    pub(crate) distributed: bool,
}

/// Make what NATS, Qdrant and Neo4j have to have: streams, collection, constraints.
///
/// Run it before the first start and after every update; to run it again changes nothing. What is there but otherwise
/// than this version wants it is named and left as it is (exit code 3).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  MNEMIC_NATS__URL=nats://nats:4222 MNEMIC_QDRANT__URL=http://qdrant:6334 \\
    MNEMIC_NEO4J__URL=bolt://neo4j:7687 MNEMIC_NEO4J__PASSWORD=... mnemic provision")]
pub(crate) struct Provision {
    /// Settings file [default: what MNEMIC_CONFIG names, else mnemic.toml in this folder, if there is one].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Show what a memory does: a sample conversation, six questions, evidence, answers, a refusal.
///
/// Starts a server of its own on a free port, with a temporary folder that is removed at the end. Nothing else on this
/// machine is touched.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Leave the server running at the end, until Ctrl-C.
    #[arg(long)]
    pub(crate) keep: bool,
}

/// Ask a space a question.
///
/// Prints the evidence with dates, probabilities and costs, whether it is enough and why, and a short answer. Exit code 3 when
/// the evidence is insufficient: Mnemic says so rather than guess.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic ask \"When did Ann move to Oslo?\" --space ann
  mnemic ask \"What does Ann play?\" --space ann --budget 256 --explain 5
  mnemic ask \"What does Ann play?\" --space ann --enough 0.9
  mnemic ask \"Where does Ann live?\" --space ann --as-of 2026-03-01 --actor Ann --actor Ben
  mnemic ask \"What do Ann and Ben both play?\" --space ann --strategy explore --explain 1
  mnemic ask \"What does Ann play?\" --space ann --json | jq -r .pack.text")]
pub(crate) struct Ask {
    /// The question.
    pub(crate) question: String,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Tokens (o200k) the evidence may cost.
    #[arg(long, default_value_t = 512)]
    pub(crate) budget: u32,
    /// Share of the evidence that is enough, above 0 and at most 1; 1 spends the whole budget.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub(crate) enough: f32,
    /// Calls of the server's language model allowed; with one or more it answers from the evidence, if one is set up.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub(crate) model_calls: u8,
    /// How the evidence is sought: with --model-calls of two and more, all but `route` have a language model search first, and
    /// `auto` chooses by the question.
    #[arg(long, default_value = "route", value_parser = PossibleValuesParser::new(Strategy::ALL.map(Strategy::name)))]
    pub(crate) strategy: String,
    /// How a language model words its answer: a few words, also what it concludes, or a few sentences; needs `--model-calls`.
    #[arg(long, default_value = "short", value_parser = PossibleValuesParser::new(AnswerStyle::ALL.map(AnswerStyle::name)))]
    pub(crate) style: String,
    /// Only what was observed before this moment; RFC 3339, or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// When the question is asked: the "now" of relative times in it; left out, at `--as-of`, else now.
    #[arg(long, value_name = "TIME")]
    pub(crate) asked_at: Option<String>,
    /// Only what was observed at this moment or later.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only what was observed before this moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only what this one said or did, in any case; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Vec<String>,
    /// Only of this session, by name or id; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Vec<String>,
    /// Only what was kept with this tag; repeated, with all of them.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Explain so many of the best candidates: scores, features, why packed or not; and the path of the strategy.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) explain: u8,
    /// Print the server's response as it is.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// List, create and delete spaces.
///
/// A space is an isolated memory: of a user, an agent, a project. Nothing crosses spaces.
#[derive(Debug, clap::Args)]
pub(crate) struct Spaces {
    #[command(subcommand)]
    pub(crate) command: SpacesCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpacesCommand {
    /// List the spaces the key may see, with their sizes.
    List,
    /// Create a space; one that exists stays as it is.
    Create {
        /// Its name: 1 to 64 of a-z, 0-9, '.', '_' and '-'.
        space: SpaceId,
    },
    /// Erase a space with everything in it, for good.
    Delete {
        /// Its name.
        space: SpaceId,
        /// Really do it.
        #[arg(long)]
        yes: bool,
    },
}

/// List, show, replay and discard messages that were given up.
///
/// A message that cannot be worked on after several attempts is put aside, so that those behind it go on. Needs a key with
/// the right `admin`, if the server has keys.
#[derive(Debug, clap::Args)]
pub(crate) struct DeadLetters {
    #[command(subcommand)]
    pub(crate) command: DeadLettersCommand,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List them, oldest first, with the reasons.
    List,
    /// Show one with its payload.
    Show {
        /// Its number or id, as listed.
        id: String,
    },
    /// Deliver one again, to the group that gave it up.
    Replay {
        /// Its number or id, as listed.
        id: String,
    },
    /// Forget one; what it carried is not written.
    Discard {
        /// Its number or id, as listed.
        id: String,
    },
}

/// Check this installation: settings, files or servers, drift between the stores, language models, the server.
///
/// Reads only, unless --repair is given. Parts that cannot be looked at are said to be skipped, with the reason. Drift is
/// counted space by space: records without a unit, units without a record, points missing or too many. Each language
/// model that the settings name is asked one small question, which costs some 200 tokens.
///
/// On NATS, Qdrant and Neo4j it uses the settings and credentials of the gateway.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Derive again from the stored records what has drifted.
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Derive a space again from its records, for example after an update; it stays searchable meanwhile.
///
/// Units are written again into a new generation of the index, which then takes the place of the old one. Records,
/// curations and ids stay as they are. Needs the right `admin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic rebuild ann")]
pub(crate) struct Rebuild {
    /// The space.
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Write a consistent copy of the memory to a file; works beside a running server.
///
/// `mnemic restore` brings it back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic backup /backups/mnemic-2026-03-02.sqlite --data /var/lib/mnemic")]
pub(crate) struct Backup {
    /// File to write; must not exist.
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) local: Local,
}

/// Put a copy that `mnemic backup` wrote in the place of the memory. Stop Mnemic first.
///
/// The copy is verified before anything changes: the integrity of the file, and that no record or unit in it was changed. The
/// memory that is there is kept in the same folder, under a name that ends with the time. What was written since the copy was
/// made is not in it, and what was erased since then is in it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mnemic restore /backups/mnemic-2026-03-02.sqlite --data /var/lib/mnemic")]
pub(crate) struct Restore {
    /// The copy; it stays as it is.
    pub(crate) source: PathBuf,
    #[command(flatten)]
    pub(crate) local: Local,
}

/// Print all settings in force as TOML, defaults included, secrets masked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic config --sample > mnemic.toml          a file to start from
  mnemic config --schema > mnemic.schema.json   what editors check it with")]
pub(crate) struct Config {
    #[command(flatten)]
    pub(crate) local: Local,
    /// Print a file with all settings, their defaults and what they mean, each commented out.
    #[arg(long, conflicts_with = "schema")]
    pub(crate) sample: bool,
    /// Print the JSON schema of the settings file.
    #[arg(long)]
    pub(crate) schema: bool,
}

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic completions bash > ~/.local/share/bash-completion/completions/mnemic
  mnemic completions zsh > \"${fpath[1]}/_mnemic\"
  mnemic completions fish > ~/.config/fish/completions/mnemic.fish")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}
