use std::path::PathBuf;

use domain::id::SpaceId;

use super::Remote;

/// The format of a file to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Detect by the content, and for texts by the file extension
    Auto,
    /// JSON lines, one record per line
    Records,
    /// conversations.json of ChatGPT
    Chatgpt,
    /// conversations.json of Claude
    Claude,
    /// Memories of mem0: a list, or {"results": [...]}
    Mem0,
    /// Memories of Hindsight: {"items": [...]} or {"memories": [...]}
    Hindsight,
    /// Plain text
    Text,
    /// Markdown
    Markdown,
}

/// Import records, conversations and documents into a space.
///
/// Accepts JSON lines with one record per line (the format that POST /v1/spaces/{space}/records accepts and GET
/// returns); exports of ChatGPT, Claude, mem0 and Hindsight, each as one JSON file; and texts (.md, .txt), also all
/// texts below a folder. The command detects the format by the content, and for texts by the file extension; use
/// --format if neither is clear. Unpack archives first: unzip export.zip conversations.json
///
/// Invalid entries are reported by their place and skipped, and the others are imported (exit code 3). After an
/// interruption, the same command continues at the same place; if the file has grown, it sends the new entries. The
/// progress is kept in $XDG_STATE_HOME/mnemic/imports; no progress is kept for standard input.
///
/// A conversation or a file becomes a session. Ids are derived from those of the export, or from the content of a text,
/// so a repeated import stores each record once. Files may be larger than the main memory; a single conversation may
/// have up to 64 MiB. Texts are split at headings, paragraphs, lists and blocks of code into parts of about 1,500
/// bytes.
///
/// A line {"reading": {...}}, as `mnemic export` writes it, is a reading: the reply of a language model about earlier records.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"A record:
  {"id": "42", "session": "monday", "actor": "Ann",
   "text": "I moved to Oslo.", "observed_at": "2026-03-02T18:00:00Z"}
  `text` (or `image_caption`, or `tool`) is what matters; everything else is optional.

Examples:
  mnemic import talk.jsonl --space ann
  mnemic import conversations.json --space ann --dry-run
  mnemic import notes/ --space ann --tag notes
  mnemic import talk.jsonl --space ann --batch 500 --url http://memory.internal:7077
  jq -c '.[]' talk.json | mnemic import - --space ann"#)]
pub(crate) struct Import {
    /// File, or a folder with texts; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Name of the space; it is created if missing.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Format of the file.
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Only report what the file contains: counts, and the first records. No request is sent to a server.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Tag to add to every record; may be repeated. Tags of stored records do not change.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Maximum number of records in one request.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) batch: u16,
    /// Send everything again; records that the server has are left unchanged.
    #[arg(long)]
    pub(crate) restart: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Write the records of a space as JSON lines, which `mnemic import` accepts.
///
/// Records are written unchanged, in the order in which they were stored. The readings (replies of a language model
/// about the records) follow, so that nobody has to pay for them again. Derived data are not written, because an import
/// derives them again. Curations are not written either (GET /v1/spaces/{space}/curations).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic export --space ann --out ann.jsonl
  mnemic export --space ann | mnemic import - --space copy
  mnemic export --space ann --records-only --out ann.jsonl")]
pub(crate) struct Export {
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// File to write, which must not exist; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
    /// Omit the readings.
    #[arg(long)]
    pub(crate) records_only: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// The filters for a list of records or units.
#[derive(Debug, clap::Args)]
pub(crate) struct ListFilters {
    /// Show only this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Show only statements and actions of this person or agent; the case of letters is ignored.
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Show only records with this tag; if repeated, with all of the tags.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
}

/// List the records of a space, or show one.
///
/// One record per line, in the order in which they were stored: id, time of the observation, actor, text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic records --space ann
  mnemic records --space ann m1
  mnemic records --space ann --session monday --actor Ben
  mnemic records --space ann --tag work
  mnemic records --space ann --from 2026-03-01 --until 2026-04-01")]
pub(crate) struct Records {
    /// Id of the record to show in full: your id, or Mnemic's.
    #[arg(conflicts_with_all = ["session", "actor", "tag", "from", "until"])]
    pub(crate) id: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    #[command(flatten)]
    pub(crate) whose: ListFilters,
    /// Show only records observed at this moment or later; RFC 3339, or ISO 8601 in UTC.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Show only records observed before this moment.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

/// Erase a record or a whole session, with all data that derive only from it, permanently.
///
/// The command returns after the erasure is complete; the same command finishes an interrupted erasure. Needs a key
/// with the right `admin`, if the server has keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mnemic erase --space ann m1 --yes
  mnemic erase --space ann --session monday --yes")]
pub(crate) struct Erase {
    /// Your id of the record, or Mnemic's.
    ///
    /// Your id, also that of one version such as `m1#v2`, erases all versions of the record. Mnemic's id erases only
    /// the version that it names; `mnemic records --space ann 'm1#v2'` shows it as `record`.
    #[arg(required_unless_present = "session", conflicts_with = "session")]
    pub(crate) id: Option<String>,
    /// Erase all records of this session, by name or id.
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The space.
    #[arg(long, short)]
    pub(crate) space: SpaceId,
    /// Confirm the erasure.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}
