//! All output, and the only place where stored text is escaped for a terminal. Only `export` writes records byte for
//! byte. The reader may close the pipe at any time (`mnemic ask ... | head`); that is not an error. Any other error of
//! standard output is kept, and the command fails when it ends.

mod escape;

use std::io::{Error, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use serde::Serialize;

/// The first error of standard output.
static ERROR: OnceLock<Error> = OnceLock::new();

/// Writes a line to standard output; escapes every character that could control a terminal.
pub(crate) fn print_line(line: &str) {
    write_line(&escape::for_terminal(line));
}

/// Returns false if writing to standard output has failed, for example because its reader has closed the pipe. Further
/// output is useless then.
pub(crate) fn is_writable() -> bool {
    ERROR.get().is_none()
}

/// Returns the error because of which a part of the output is missing, for example a full disk; `None` if everything was
/// written, or the reader closed the pipe.
pub(crate) fn write_error() -> Option<&'static Error> {
    ERROR.get().filter(|it| it.kind() != ErrorKind::BrokenPipe)
}

fn write_line(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        // Only the first error is kept.
        ERROR.set(error).ok();
    }
}

/// Writes `value` to standard output as indented JSON.
///
/// # Errors
/// If the value cannot be serialised.
pub(crate) fn say_json(value: &impl Serialize) -> anyhow::Result<()> {
    write_json(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
/// If the value cannot be serialised.
pub(crate) fn say_json_line(value: &impl Serialize) -> anyhow::Result<()> {
    write_json(&serde_json::to_string(value)?);
    Ok(())
}

fn write_json(json: &str) {
    write_line(&escape::json_for_terminal(json));
}

/// Writes a line to standard error, escaped like [`print_line`].
pub(crate) fn print_error_line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", escape::for_terminal(line));
}

/// Returns a line that is safe to print on a terminal.
pub(crate) fn for_terminal(line: &str) -> String {
    escape::for_terminal(line)
}

/// Returns JSON lines that are safe to print on a terminal.
pub(crate) fn json_for_terminal(lines: &str) -> String {
    escape::json_for_terminal(lines)
}

/// The styles of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Unstyled text.
    Plain,
    /// Headings.
    Bold,
    /// Less important text.
    Dim,
    /// A good result.
    Good,
    /// A warning.
    Warning,
    /// An error.
    Bad,
    /// Text that the user can type.
    Typed,
}

/// Applies a style to text, or leaves it plain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colours: bool,
}

impl Paint {
    /// Colours when standard output is a terminal and `NO_COLOR` is not set (<https://no-color.org>).
    pub(crate) fn of_terminal() -> Paint {
        let allows_colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        Paint {
            colours: allows_colours && std::io::stdout().is_terminal(),
        }
    }

    /// Returns `text` in `style`.
    pub(crate) fn paint_text(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Warning => "33",
            Style::Bad => "31",
            Style::Typed => "36",
        };
        if self.colours {
            escape::wrap_in_colour(code, text)
        } else {
            text.to_owned()
        }
    }
}
