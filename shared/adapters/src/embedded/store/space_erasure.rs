//! Erases deleted spaces in short steps, so that a large space does not hold up the writer and does not fill the
//! write-ahead log.
//!
//! One transaction moves the space from `spaces` to `deleted_spaces`. From then on, no read and no write finds the space,
//! and its name is free. Each step is a job of the writer that deletes some of its rows in other tables; other jobs run
//! between two steps. If the process ends, the note of the unfinished erasure and the entry in `deleted_spaces` remain, so
//! the steps continue when the erasure is finished.

use std::time::{Duration, Instant};

use domain::id::SpaceId;
use domain::port::Result;
use rusqlite::{Connection, OptionalExtension};

use super::{Durability, Outcome, Store};

/// A step ends when it has deleted this many rows. It may delete the rows of one more statement.
const STEP_ROWS: usize = 1_000;
/// A step ends when it has taken this long. It stops earlier than at [`STEP_ROWS`] if the bodies of the rows are large.
const STEP_TIME: Duration = Duration::from_millis(20);
/// Number of rows that one statement selects for deletion.
const STATEMENT_ROWS: i64 = 16;

/// A table with rows that a space owns.
pub(super) struct OwnedTable {
    pub(super) name: &'static str,
    /// In a table without row ids, the column after `space` in the primary key. Few rows of a space share its value.
    key: Option<&'static str>,
}

/// All tables with rows that a space owns. Tables that repeat the rows of another one precede it, so that the triggers of
/// those rows find nothing to delete.
pub(super) const OWNED: [OwnedTable; 16] = [
    with_row_ids("block_files"),
    with_row_ids("unit_blocks"),
    with_row_ids("point_images"),
    with_row_ids("points"),
    with_row_ids("records"),
    with_row_ids("units"),
    with_row_ids("derived"),
    with_row_ids("remembered"),
    without_row_ids("claims", "record"),
    without_row_ids("written", "position"),
    without_row_ids("relations", "source"),
    without_row_ids("curations", "id"),
    without_row_ids("notes", "scope"),
    without_row_ids("readings", "id"),
    without_row_ids("read_records", "record"),
    without_row_ids("wanted_sessions", "session"),
];

const fn with_row_ids(name: &'static str) -> OwnedTable {
    OwnedTable { name, key: None }
}

const fn without_row_ids(name: &'static str, key: &'static str) -> OwnedTable {
    OwnedTable { name, key: Some(key) }
}

impl OwnedTable {
    /// Returns a statement that deletes some rows of the space `?1`: those that have the keys of `?2` of its rows. It
    /// looks the rows up by their keys and does not scan the space.
    fn delete_statement(&self) -> String {
        let name = self.name;
        match self.key {
            // With a condition on the space, SQLite would scan the space instead.
            None => format!("DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} WHERE space = ?1 LIMIT ?2)"),
            Some(key) => format!(
                "DELETE FROM {name} WHERE space = ?1 AND {key} IN (SELECT {key} FROM {name} WHERE space = ?1 LIMIT ?2)"
            ),
        }
    }
}

/// Deletes a space and frees its name, and notes that the erasure is unfinished in this store and in others. Its rows in
/// other tables remain, except those of mapped files: there are few, and the files can then be destroyed at once.
pub(super) fn hide_space(db: &Connection, row: i64) -> Outcome<()> {
    for text in [
        "INSERT OR REPLACE INTO unfinished_erasures SELECT name, created_at FROM spaces WHERE row = ?1",
        "INSERT INTO deleted_spaces SELECT row, name, created_at FROM spaces WHERE row = ?1",
        "DELETE FROM block_files WHERE space = ?1",
        "DELETE FROM point_images WHERE space = ?1",
        "DELETE FROM spaces WHERE row = ?1",
    ] {
        db.execute(text, [row])?;
    }
    Ok(())
}

/// Deletes some rows of the deleted spaces with a name. Returns false if no such space is left.
fn erase_some_rows(db: &Connection, name: &str) -> Outcome<bool> {
    let mut select = db.prepare_cached("SELECT row FROM deleted_spaces WHERE name = ?1 ORDER BY row LIMIT 1")?;
    let Some(space) = select.query_row([name], |row| row.get::<_, i64>(0)).optional()? else {
        return Ok(false);
    };
    let (begun, mut deleted) = (Instant::now(), 0);
    for table in &OWNED {
        let mut delete = db.prepare_cached(&table.delete_statement())?;
        loop {
            let count = delete.execute((space, STATEMENT_ROWS))?;
            if count == 0 {
                break;
            }
            deleted += count;
            if deleted >= STEP_ROWS || begun.elapsed() >= STEP_TIME {
                return Ok(true);
            }
        }
    }
    db.execute("DELETE FROM deleted_spaces WHERE row = ?1", [space])?;
    Ok(true)
}

impl Store {
    /// Erases the rows of the deleted spaces with a name, in steps. A step waits for the jobs that were submitted before
    /// it. If the caller stops waiting, the other rows remain until the next call for this name.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the disk is full even for one step.
    pub(super) async fn erase_deleted_space(&self, operation: &'static str, space: &SpaceId) -> Result<()> {
        let mut has_failed = false;
        loop {
            let (name, log) = (space.clone(), self.writer.log_handle());
            let job = move |db: &Connection| erase_some_rows(db, name.as_str());
            let then = move |is_unfinished: &bool| {
                if !is_unfinished {
                    log.request_emptying();
                }
            };
            // A loss of power may bring rows back, but only together with the entry in `deleted_spaces`.
            match self.write_then(operation, Durability::Process, job, then).await {
                Ok(true) => has_failed = false,
                Ok(false) => return Ok(()),
                Err(error) if has_failed => return Err(error),
                // If the disk is full, the next step uses the room that the log of the earlier steps took.
                Err(_) => {
                    has_failed = true;
                    self.run_erasure(operation, |_| Ok(())).await?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::embedded::store::connections;

    fn open_database(dir: &tempfile::TempDir) -> Connection {
        connections::open_writer(&dir.path().join("database"), &Options::default()).unwrap()
    }

    #[test]
    fn every_table_with_rows_of_spaces_is_erased() {
        let dir = tempfile::tempdir().unwrap();
        let db = open_database(&dir);
        // Tables of the queue and receipts name their space by text.
        let mut select = db
            .prepare(
                "SELECT tables.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
                 WHERE tables.type = 'table' AND columns.name = 'space' AND columns.type = 'INTEGER'
                 ORDER BY tables.name",
            )
            .unwrap();
        let tables = select.query_map([], |row| row.get(0)).unwrap();
        let tables: Vec<String> = tables.collect::<rusqlite::Result<_>>().unwrap();
        let mut owned = OWNED.map(|it| it.name);
        owned.sort_unstable();
        assert_eq!(tables, owned);
    }

    #[test]
    fn a_step_looks_its_rows_up_by_their_keys() {
        let dir = tempfile::tempdir().unwrap();
        let db = open_database(&dir);
        for table in OWNED {
            let text = format!("EXPLAIN QUERY PLAN {}", table.delete_statement());
            let plan: String = db.query_row(&text, (1, 16), |row| row.get("detail")).unwrap();
            let lookup = format!("{}=?", table.key.unwrap_or("rowid"));
            assert!(plan.starts_with("SEARCH") && plan.contains(&lookup), "{plan}");
        }
    }
}
