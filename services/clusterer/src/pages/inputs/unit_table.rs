//! The contents of the units of a space, by number.
//!
//! Each unit is in several lists of a space: by id, by time, and in the lists of the things that it mentions. They hold
//! numbers, which take less memory than ids with the keys that they are sorted by.

use std::cmp::Reverse;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use domain::id::UnitId;

use crate::pages::inputs::buckets::bucket::Rank;
use crate::pages::inputs::unit_contents::UnitContents;
use crate::space::ordered_numbers::OrderedNumbers;
use crate::space::sorted_chunks::SortedChunks;
use crate::space::spill_file::SpillFile;

/// Number of a unit. After the unit is removed, another unit may get its number.
pub(crate) type UnitNumber = u32;

/// Place of a unit in the order of time, ties by id.
pub(crate) type TimeAndId = (DateTime<Utc>, UnitId);

/// Maximum number of rows in a chunk. Old rows are read one by one, so a chunk is small.
const ROWS: usize = 16;

/// The contents of units, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRows {
    contents: SortedChunks<UnitNumber, UnitContents, ROWS>,
    /// What is known of each unit without its contents; `None` for a free number. It stays in memory when the contents
    /// are spilled.
    keys: Vec<Option<UnitKey>>,
    free: Vec<UnitNumber>,
}

/// The parts of the contents of a unit that lists are sorted by, and its number of records.
#[derive(Clone, Copy, Debug)]
struct UnitKey {
    id: UnitId,
    at: DateTime<Utc>,
    /// The score of the line, if there is a line.
    score: Option<u32>,
    records: u32,
}

/// The contents of the units of a space, with the numbers of these units by id and by time.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitTable {
    pub(super) rows: UnitRows,
    by_id: OrderedNumbers,
    by_time: OrderedNumbers,
}

impl UnitRows {
    pub(crate) fn get(&self, number: UnitNumber) -> Option<&UnitContents> {
        self.contents.get(&number)
    }

    /// Spills what was not used since the last call to a file.
    pub(super) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.contents.spill_unused(file);
    }

    pub(super) fn id(&self, number: UnitNumber) -> Option<UnitId> {
        Some(self.key(number)?.id)
    }

    pub(super) fn time_and_id(&self, number: UnitNumber) -> Option<TimeAndId> {
        let key = self.key(number)?;
        Some((key.at, key.id))
    }

    /// Returns the rank of the line of a unit, or none if the unit has no line.
    pub(super) fn rank(&self, number: UnitNumber) -> Option<Rank> {
        let key = self.key(number)?;
        Some((Reverse(key.score?), key.at, key.id))
    }

    fn key(&self, number: UnitNumber) -> Option<&UnitKey> {
        self.keys.get(number as usize)?.as_ref()
    }

    fn add(&mut self, contents: UnitContents) -> UnitNumber {
        let number = self.free.pop().unwrap_or_else(|| {
            self.keys.push(None);
            UnitNumber::try_from(self.keys.len() - 1).unwrap_or(UnitNumber::MAX)
        });
        self.keys[number as usize] = Some(UnitKey {
            id: contents.id,
            at: contents.at,
            score: contents.rank().map(|it| it.0.0),
            records: contents.records,
        });
        self.contents.insert(number, contents);
        number
    }

    fn remove(&mut self, number: UnitNumber) {
        self.keys[number as usize] = None;
        self.contents.remove(&number);
        self.free.push(number);
    }
}

impl UnitTable {
    /// Returns the number of a unit, or none if the table does not have the unit.
    pub(super) fn find_number(&self, id: UnitId) -> Option<UnitNumber> {
        self.by_id.find(|it| self.rows.id(it).cmp(&Some(id)))
    }

    pub(crate) fn get(&self, id: UnitId) -> Option<&UnitContents> {
        self.rows.get(self.find_number(id)?)
    }

    /// Returns the rank of the line of a unit, or none if the unit has no line. It stays in memory.
    pub(super) fn rank(&self, id: UnitId) -> Option<Rank> {
        self.rows.rank(self.find_number(id)?)
    }

    /// Returns the number of records of a unit, or none if the table does not have the unit. It stays in memory.
    pub(crate) fn count_records(&self, id: UnitId) -> Option<u32> {
        Some(self.rows.key(self.find_number(id)?)?.records)
    }

    /// Adds a unit that the table does not have.
    pub(super) fn add(&mut self, contents: UnitContents) {
        let (at, id) = (contents.at, contents.id);
        let number = self.rows.add(contents);
        let rows = &self.rows;
        self.by_id.insert(number, |it| rows.id(it).cmp(&Some(id)));
        self.by_time
            .insert(number, |it| rows.time_and_id(it).cmp(&Some((at, id))));
    }

    /// Removes a unit, which must no longer be in any other list.
    pub(super) fn remove(&mut self, id: UnitId) {
        let Some(number) = self.find_number(id) else { return };
        let rows = &self.rows;
        let time_and_id = rows.time_and_id(number);
        self.by_id.remove(|it| rows.id(it).cmp(&Some(id)));
        self.by_time.remove(|it| rows.time_and_id(it).cmp(&time_and_id));
        self.rows.remove(number);
    }

    /// Returns the time at which the newest unit was observed.
    pub(super) fn newest_time(&self) -> Option<DateTime<Utc>> {
        let newest = self.by_time.iter().next_back()?;
        Some(self.rows.time_and_id(newest)?.0)
    }
}

#[cfg(test)]
mod tests {
    use domain::unit::Unit;

    use super::*;
    use crate::judgements::example::sample_event;
    use crate::pages::inputs::lines::Spoken;
    use crate::pages::inputs::unit_contents::UnitNames;

    /// Returns a file, a table of 64 units with all rows in this file, and what was in the rows.
    fn spilled_table() -> (Arc<SpillFile>, UnitTable, Vec<UnitContents>) {
        let (_folder, file) = SpillFile::create_for_test();
        let mut table = UnitTable::default();
        let rows: Vec<UnitContents> = (0..64).map(row).collect();
        rows.iter().for_each(|it| table.add(it.clone()));
        // What was used since the first call is spilled by the second.
        (0..2).for_each(|_| table.rows.spill_unused(&file));
        (file, table, rows)
    }

    /// Returns a row of a unit of one to three records; every other one has a line.
    fn row(number: u32) -> UnitContents {
        let sample = sample_event(number, "");
        let unit = Unit {
            records: sample.records.repeat(1 + number as usize % 3),
            ..sample
        };
        let spoken = Spoken {
            score: number % 9,
            text: "Ann counted boats.".into(),
        };
        let spoken = Some(&spoken).filter(|_| number.is_multiple_of(2));
        UnitContents::from_unit(&unit, spoken, &UnitNames::default())
    }

    #[test]
    fn few_other_rows_are_read_back_with_an_old_row() {
        let (file, table, rows) = spilled_table();
        let get = |number: usize| table.get(rows[number].id);
        assert_eq!(get(0), Some(&rows[0]));
        file.damage();
        assert_eq!(get(ROWS - 1), Some(&rows[ROWS - 1]));
        assert!(!file.is_damaged());
        assert_eq!(get(16), None, "it was not read back with the first row");
        assert!(file.is_damaged());
    }

    #[test]
    fn ranks_and_numbers_of_records_stay_in_memory() {
        let (file, table, rows) = spilled_table();
        file.damage();
        for row in &rows {
            assert_eq!(table.rank(row.id), row.rank());
            assert_eq!(table.count_records(row.id), Some(row.records));
        }
        let unknown = sample_event(64, "").id;
        assert_eq!((table.rank(unknown), table.count_records(unknown)), (None, None));
        assert!(!file.is_damaged());
    }
}
