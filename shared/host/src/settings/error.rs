use std::path::PathBuf;

use super::SECTIONS;

/// What is wrong with the settings.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the settings file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML. The line is not shown, since it may hold a secret.
    #[error("the settings file {} is not valid TOML, line {line}: {detail}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Why.
        detail: String,
    },
    /// There is no such section.
    #[error("unknown section `{name}` in {origin}; there are: {}", SECTIONS.join(", "))]
    UnknownSection {
        /// What was written.
        name: String,
        /// The file or variable that has it.
        origin: String,
    },
    /// A section is not a table, or a variable goes deeper than a table.
    #[error("`{name}` in {origin} is not a table")]
    NotATable {
        /// What was written.
        name: String,
        /// The file or variable that has it.
        origin: String,
    },
    /// A key is unknown, missing or of the wrong type.
    #[error("section [{section}] from {origin}: {}", first_line(detail))]
    Section {
        /// The section.
        section: String,
        /// The file and variables it was read from.
        origin: String,
        /// What is wrong, with the known keys.
        detail: String,
    },
}

/// The errors of `toml` go on with a picture of the text, which is not there for a section.
fn first_line(detail: &str) -> &str {
    detail.lines().next().unwrap_or(detail)
}
