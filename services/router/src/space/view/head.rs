use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::time::TimeSpan;
use domain::unit::{StateChange, Unit};

/// Texts of a unit before the callers' ids of its records.
const TEXTS: usize = 3;

/// The fields of a unit that questions, tools and recall read.
#[derive(Clone, Debug)]
pub struct UnitHead {
    /// Id of the unit.
    pub id: UnitId,
    /// The session the unit belongs to.
    pub session: SessionId,
    /// Time at which the unit was observed.
    pub observed_at: DateTime<FixedOffset>,
    /// Position in the session among units with equal `observed_at`.
    pub ordinal: u64,
    /// Kind of observation.
    pub modality: Modality,
    /// Person or agent that spoke or acted.
    pub actor: Arc<str>,
    /// The person addressed; empty if there is none or it is unknown.
    pub addressee: Arc<str>,
    /// The records the unit came from.
    pub records: Box<[RecordId]>,
    /// Times named in the text.
    pub times: Box<[TimeSpan]>,
    /// State changes that the unit mentions.
    pub changes: Box<[StateChange]>,
    /// Step of an agent's run, if the unit is one.
    pub step: Option<u32>,
    /// Number of callers' ids.
    ids: u32,
    /// Text, caption, question, the callers' ids and the participants, one after the other.
    joined: Box<str>,
    /// The end of each of them.
    ends: Box<[u32]>,
}

impl UnitHead {
    /// Takes the fields from a unit.
    pub(super) fn from_unit(unit: &Unit) -> UnitHead {
        let texts = [&unit.text, &unit.caption, &unit.question];
        let all = || texts.into_iter().chain(&unit.external_ids).chain(&unit.participants);
        let mut joined = String::with_capacity(all().map(String::len).sum());
        let mut ends = Vec::with_capacity(all().count());
        for text in all() {
            joined.push_str(text);
            ends.push(joined.len() as u32);
        }
        UnitHead {
            id: unit.id,
            session: unit.session,
            observed_at: unit.observed_at,
            ordinal: unit.ordinal,
            modality: unit.modality,
            actor: Arc::from(unit.actor.as_str()),
            addressee: Arc::from(unit.addressee.as_str()),
            records: unit.records.as_slice().into(),
            ids: unit.external_ids.len() as u32,
            times: unit.times.as_slice().into(),
            changes: unit.changes.as_slice().into(),
            step: unit.step,
            joined: joined.into_boxed_str(),
            ends: ends.into_boxed_slice(),
        }
    }

    /// Returns the text of the observation.
    pub fn text(&self) -> &str {
        self.text_at(0)
    }

    /// Returns the caption of a shared image; empty if there is none.
    pub fn caption(&self) -> &str {
        self.text_at(1)
    }

    /// Returns the question that the unit answers; empty if there is none.
    pub fn question(&self) -> &str {
        self.text_at(2)
    }

    /// Returns the callers' ids of its records.
    pub fn external_ids(&self) -> Vec<String> {
        let ids = TEXTS..TEXTS + self.ids as usize;
        ids.map(|it| self.text_at(it).to_owned()).collect()
    }

    /// Returns the names of people and things mentioned.
    pub fn participants(&self) -> impl Iterator<Item = &str> {
        (TEXTS + self.ids as usize..self.ends.len()).map(|it| self.text_at(it))
    }

    /// Replaces the names by equal ones in `names`, and adds names that are not there yet. A space has few different
    /// names.
    pub(super) fn share_names(&mut self, names: &mut HashSet<Arc<str>>) {
        for name in [&mut self.actor, &mut self.addressee] {
            match names.get(name) {
                Some(known) => *name = Arc::clone(known),
                None => _ = names.insert(Arc::clone(name)),
            }
        }
    }

    /// Returns roughly how many bytes its allocations take.
    pub(super) fn size_in_bytes(&self) -> usize {
        let times = self.times.iter().map(|it| size_of::<TimeSpan>() + it.words.len());
        let change = |it: &StateChange| {
            size_of::<StateChange>() + it.subject.len() + it.key.len() + it.before.len() + it.after.len()
        };
        self.joined.len()
            + 4 * self.ends.len()
            + size_of_val::<[RecordId]>(&self.records)
            + times.sum::<usize>()
            + self.changes.iter().map(change).sum::<usize>()
    }

    fn text_at(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |it| self.ends[it] as usize);
        &self.joined[start..self.ends[number] as usize]
    }
}
