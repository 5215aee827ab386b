//! Writing to the terminal. The reader may go away at any time (`mnemic ask ... | head`); that is no error.

use std::io::{IsTerminal, Write};

/// Writes a line to standard output.
pub(crate) fn say(line: &str) {
    // Fails only when nobody reads any more.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Writes a line to standard error.
pub(crate) fn complain(line: &str) {
    // As above.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// How text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// Headings.
    Bold,
    /// What matters less.
    Dim,
    /// What is well.
    Good,
    /// What needs a look.
    Warning,
    /// What is wrong.
    Bad,
    /// What can be typed.
    Typed,
}

/// Puts text in a style, or leaves it plain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    colours: bool,
}

impl Paint {
    /// Colours when standard output is a terminal and `NO_COLOR` is not set (<https://no-color.org>).
    pub(crate) fn of_terminal() -> Paint {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        Paint {
            colours: wanted && std::io::stdout().is_terminal(),
        }
    }

    /// Returns `text` in `style`.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
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
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
