use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use domain::id::{RecordId, SessionId, UnitId};
use domain::record::Modality;
use domain::time::TimeSpan;
use domain::unit::{StateChange, Unit};

use super::texts::Texts;

/// The places of the texts of a unit before the callers' ids of its records.
const TEXT: usize = 0;
const CAPTION: usize = 1;
const QUESTION: usize = 2;
const SHOWN: usize = 3;
/// The number of the texts that every unit has, and the place of the first of the others.
pub(super) const IDS: usize = 4;

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
    /// Text, caption, question, the text that is shown if it is another one, the callers' ids and the participants.
    texts: Texts,
}

impl UnitHead {
    /// Takes the fields from a unit, except its texts. These are `texts`, as [`join_texts`] returns them; `ids` of them
    /// are callers' ids of its records.
    pub(super) fn from_unit(unit: &Unit, texts: Texts, ids: u32) -> UnitHead {
        UnitHead {
            id: unit.id,
            session: unit.session,
            observed_at: unit.observed_at,
            ordinal: unit.ordinal,
            modality: unit.modality,
            actor: Arc::from(unit.actor.as_str()),
            addressee: Arc::from(unit.addressee.as_str()),
            records: unit.records.as_slice().into(),
            times: unit.times.as_slice().into(),
            changes: unit.changes.as_slice().into(),
            step: unit.step,
            ids,
            texts,
        }
    }

    /// Returns the text of the observation.
    pub fn text(&self) -> &str {
        self.texts.get(TEXT)
    }

    /// Returns the caption of a shared image; empty if there is none.
    pub fn caption(&self) -> &str {
        self.texts.get(CAPTION)
    }

    /// Returns the question that the unit answers; empty if there is none.
    pub fn question(&self) -> &str {
        self.texts.get(QUESTION)
    }

    /// Returns the text that is shown, if it is not the text of the observation.
    pub(super) fn other_shown(&self) -> &str {
        self.texts.get(SHOWN)
    }

    /// Returns the callers' ids of its records.
    pub fn external_ids(&self) -> Vec<String> {
        let ids = IDS..IDS + self.ids as usize;
        ids.map(|it| self.texts.get(it).to_owned()).collect()
    }

    /// Returns the names of people and things mentioned.
    pub fn participants(&self) -> impl Iterator<Item = &str> {
        (IDS + self.ids as usize..self.texts.len()).map(|it| self.texts.get(it))
    }

    /// Returns all its texts, as [`join_texts`] joined them.
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// Returns the same fields with these texts, which are equal to its own.
    pub(super) fn with_texts(&self, texts: Texts) -> UnitHead {
        UnitHead { texts, ..self.clone() }
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
        self.texts.region().allocated_bytes()
            + size_of_val::<[RecordId]>(&self.records)
            + times.sum::<usize>()
            + self.changes.iter().map(change).sum::<usize>()
    }
}

/// Joins the texts of a unit. `shown` is the text that is shown, if it is not the text of the unit.
pub(super) fn join_texts(unit: &Unit, shown: Option<&str>) -> Texts {
    let texts = [&unit.text, &unit.caption, &unit.question].map(String::as_str);
    let lists = unit.external_ids.iter().chain(&unit.participants).map(String::as_str);
    Texts::from_texts(texts.into_iter().chain([shown.unwrap_or_default()]).chain(lists))
}

/// Gives a unit the texts that [`join_texts`] joined; `ids` of them are callers' ids of its records.
pub(super) fn restore_texts(unit: &mut Unit, texts: &Texts, ids: usize) {
    let own = |it: usize| texts.get(it).to_owned();
    unit.text = own(TEXT);
    unit.caption = own(CAPTION);
    unit.question = own(QUESTION);
    unit.external_ids = (IDS..IDS + ids).map(own).collect();
    unit.participants = (IDS + ids..texts.len()).map(own).collect();
}
