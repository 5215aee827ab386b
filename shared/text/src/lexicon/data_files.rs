//! Tables of language knowledge: files of a crate's folder `data/` that are compiled into the program.
//!
//! Each line is a row, tabs separate the columns, and lines that begin with `#` are comments. If a row breaks the rules
//! of its table, the table is not built, and the test of the table fails.

use std::collections::HashMap;

/// A file of `data/` and its text.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Path of the file below `data/`.
    pub path: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// Compiles a file of the folder `data/` of the calling crate into the program.
#[macro_export]
macro_rules! data_file {
    ($($part:literal),+) => {
        $crate::lexicon::data_files::File {
            path: concat!($($part),+),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/", $($part),+)),
        }
    };
}
pub use data_file;

/// A row of a file.
#[derive(Clone, Debug)]
pub struct Row {
    path: &'static str,
    /// Line number in the file, from 1.
    line: usize,
    /// Cells of the row; no cell is empty or has white space around it.
    pub cells: Vec<&'static str>,
}

impl Row {
    /// Returns an error message with the file and the line of the row.
    pub fn locate_error(&self, what: &str) -> String {
        format!("{}:{}: {what}", self.path, self.line)
    }

    /// Returns the alternatives of a cell, which commas separate; no alternatives for "-".
    pub fn split_alternatives(&self, cell: usize) -> impl Iterator<Item = &'static str> {
        let cell = self.cells[cell];
        cell.split(',').filter(move |_| cell != "-")
    }
}

/// Returns the rows of a file.
///
/// # Errors
///
/// Fails at a row whose number of cells is not `columns`, and at a cell that is empty or begins or ends with white
/// space.
pub fn read_rows(file: File, columns: usize) -> Result<Vec<Row>, String> {
    let lines = (1..).zip(file.text.lines());
    let read = |(line, text): (usize, &'static str)| {
        let cells: Vec<&str> = text.split('\t').collect();
        let row = Row {
            path: file.path,
            line,
            cells,
        };
        if row.cells.len() != columns {
            return Err(row.locate_error(&format!("{} cells, not {columns}", row.cells.len())));
        }
        match row.cells.iter().any(|it| it.is_empty() || it.trim() != *it) {
            true => Err(row.locate_error("a cell is empty or begins or ends with white space")),
            false => Ok(row),
        }
    };
    lines
        .filter(|it| !it.1.is_empty() && !it.1.starts_with('#'))
        .map(read)
        .collect()
}

/// Inserts a key of a row into a table; fails if the table has the key already.
pub fn insert_unique<T>(
    table: &mut HashMap<&'static str, T>,
    key: &'static str,
    value: T,
    row: &Row,
) -> Result<(), String> {
    match table.insert(key, value) {
        None => Ok(()),
        Some(_) => Err(row.locate_error(&format!("\"{key}\" is there already"))),
    }
}

/// Returns a table that was read without errors, and panics otherwise: the files are part of the program, so an error
/// in one is an error of the program.
pub fn expect_valid_table<T>(table: Result<T, String>) -> T {
    table.unwrap_or_else(|fault| panic!("data/{fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_with_text(text: &'static str) -> File {
        File { path: "en/x.tsv", text }
    }

    #[test]
    fn rows_with_missing_or_untidy_cells_are_refused() {
        let read = read_rows(file_with_text("# comment\none\t1,2\n\ntwo\t-\n"), 2).unwrap();
        assert_eq!(read[0].cells, ["one", "1,2"]);
        assert_eq!(read[0].split_alternatives(1).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(read[1].split_alternatives(1).count(), 0);
        for (text, fault) in [
            ("one\n", "en/x.tsv:1: 1 cells, not 2"),
            ("# a\none\t1\t1\n", "en/x.tsv:2: 3 cells, not 2"),
            (
                "one\t\n",
                "en/x.tsv:1: a cell is empty or begins or ends with white space",
            ),
            (
                "one\t1 \n",
                "en/x.tsv:1: a cell is empty or begins or ends with white space",
            ),
        ] {
            assert_eq!(
                read_rows(file_with_text(text), 2).err().as_deref(),
                Some(fault),
                "{text:?}"
            );
        }
    }
}
