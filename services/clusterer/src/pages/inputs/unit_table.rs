//! The contents of the units of a space, by number.
//!
//! Each unit is in several lists of a space: by id, by time, and in the lists of the things that it mentions. They hold
//! numbers, which take less memory than ids with the keys that they are sorted by.

use chrono::{DateTime, Utc};
use domain::id::UnitId;

use crate::pages::inputs::buckets::bucket::Rank;
use crate::pages::inputs::unit_contents::UnitContents;
use crate::space::ordered_numbers::OrderedNumbers;

/// Number of a unit. After the unit is removed, another unit may get its number.
pub(crate) type UnitNumber = u32;

/// Place of a unit in the order of time, ties by id.
pub(crate) type TimeAndId = (DateTime<Utc>, UnitId);

/// The contents of units, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRows {
    /// Boxed, because up to half of a growing list is unused, and the contents are large. `None` for a free number.
    all: Vec<Option<Box<UnitContents>>>,
    free: Vec<UnitNumber>,
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
        self.all.get(number as usize)?.as_deref()
    }

    pub(super) fn id(&self, number: UnitNumber) -> Option<UnitId> {
        Some(self.get(number)?.id)
    }

    pub(super) fn time_and_id(&self, number: UnitNumber) -> Option<TimeAndId> {
        let contents = self.get(number)?;
        Some((contents.at, contents.id))
    }

    pub(super) fn rank(&self, number: UnitNumber) -> Option<Rank> {
        self.get(number)?.rank()
    }

    fn add(&mut self, contents: UnitContents) -> UnitNumber {
        let number = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            UnitNumber::try_from(self.all.len() - 1).unwrap_or(UnitNumber::MAX)
        });
        self.all[number as usize] = Some(Box::new(contents));
        number
    }

    fn remove(&mut self, number: UnitNumber) {
        self.all[number as usize] = None;
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
        Some(self.rows.get(newest)?.at)
    }
}
