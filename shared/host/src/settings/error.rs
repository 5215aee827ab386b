use std::path::PathBuf;

use super::SECTIONS;

/// An error in the settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the settings file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The file is not valid TOML. The line itself is not shown, because it may contain a secret.
    #[error("the settings file {} is not valid TOML, line {line}: {detail}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The reason.
        detail: String,
    },
    /// The section does not exist.
    #[error("unknown section `{name}` in {origin}; the sections are: {}", SECTIONS.join(", "))]
    UnknownSection {
        /// The name as written.
        name: String,
        /// The file or variable that contains it.
        origin: String,
    },
    /// A section is not a table, or a variable names a key inside a value that is not a table.
    #[error("`{name}` in {origin} is not a table")]
    NotATable {
        /// The name as written.
        name: String,
        /// The file or variable that contains it.
        origin: String,
    },
    /// A key is unknown, missing or of the wrong type.
    #[error("section [{section}] from {origin}: {}", first_line(detail))]
    Section {
        /// The section.
        section: String,
        /// The file and variables that the section was read from.
        origin: String,
        /// The problem, with the known keys.
        detail: String,
    },
}

/// Returns the first line of an error. The other lines of a `toml` error quote the source text, which does not exist
/// for a section.
fn first_line(detail: &str) -> &str {
    detail.lines().next().unwrap_or(detail)
}
