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

/// The contents of units, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRows {
    contents: SortedChunks<UnitNumber, UnitContents>,
    /// What the lists of units are sorted by; `None` for a free number. It stays in memory when the contents are spilled.
    keys: Vec<Option<UnitKey>>,
    free: Vec<UnitNumber>,
}

/// The parts of the contents of a unit that lists are sorted by.
#[derive(Clone, Copy, Debug)]
struct UnitKey {
    id: UnitId,
    at: DateTime<Utc>,
    /// The score of the line, if there is a line.
    score: Option<u32>,
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
