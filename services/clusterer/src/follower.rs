//! Keeps derived data in step with the units of each space.

pub(crate) mod cache;
mod followed_space;
mod lookups;
pub(crate) mod memory;
pub(crate) mod model_worker;
mod open_question;
mod question_lists;
mod space_gates;
mod spilling;
mod stored_digests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::id::SpaceId;
use domain::message::UnitsOrganisedV1;
use domain::{Classify, ErrorKind};
use host::Backends;
use tracing::{Instrument, debug, info_span};

use crate::follower::cache::Cache;
use crate::follower::followed_space::Followed;
use crate::follower::lookups::coreference_readings::look_up;
use crate::follower::lookups::label_readings::look_up_labels;
use crate::follower::lookups::stored_decisions::{read_curations, read_page_visits};
use crate::follower::lookups::stored_readings::look_up_sayings;
use crate::follower::memory::Memory;
pub(crate) use crate::follower::open_question::{OpenQuestion, QuestionKey};
use crate::follower::space_gates::SpaceGates;
use crate::follower::spilling::Spilling;
use crate::follower::stored_digests::{StoredDigests, write_changes};
use crate::judgements::people::PeopleJudgement;
use crate::judgements::summaries::PageSummary;
use crate::{Acts, ChangedObjects, Error};

/// Number of recomputations of a space that other processes interrupt, before its message is retried later.
const ATTEMPTS: usize = 4;
/// Number of changes read in one request.
const AT_ONCE: usize = 1_000;
/// Maximum number of such requests before data is derived. It bounds what a large space keeps in memory meanwhile.
const BATCHES: usize = if cfg!(test) { 2 } else { 16 };
/// While a space is computed for the first time, affected pages wait for the last round, unless there are this many.
const WAITING_PAGES_MAX: usize = 4_096;
/// Number of spaces whose open questions are kept; others find theirs after a change or a restart.
const ASKING_MAX: usize = 10_000;

/// In-memory state of the most recently changed spaces.
pub(crate) struct Follower {
    backends: Backends,
    /// Lets the messages of one space be handled one after another.
    gates: SpaceGates,
    spaces: Mutex<Cache<SpaceId, Followed>>,
    spilling: Spilling,
    /// True if a language model is configured.
    asks: bool,
    /// Open questions for the language model, as of the last time each space was brought up to date.
    questions: Mutex<BTreeMap<SpaceId, Vec<OpenQuestion>>>,
}

/// Whether to look up again the readings of questions for which no usable reading is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenReadings {
    AsKnown,
    LookUp,
}

/// Whether all changes of units were applied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Partial,
    Complete,
}

impl Follower {
    /// Returns a follower that keeps the states of at most `spaces_max` spaces, of about `bytes_max` in all, in memory.
    /// It collects questions for a language model only if `asks` is true.
    pub(crate) fn new(backends: Backends, spaces_max: usize, bytes_max: usize, asks: bool) -> Follower {
        Follower {
            spilling: Spilling::new(backends.temporary_folder.clone(), bytes_max),
            spaces: Mutex::new(Cache::new(spaces_max, bytes_max)),
            backends,
            asks,
            questions: Mutex::default(),
            gates: SpaceGates::default(),
        }
    }

    /// Brings the space of a message up to date, applies the curations of its batch and marks its watermark.
    pub(crate) async fn follow_message(&self, message: &UnitsOrganisedV1) -> Result<(), Error> {
        let UnitsOrganisedV1 {
            space,
            position,
            acts,
            reading,
        } = message;
        let open = match reading.is_empty() {
            true => OpenReadings::AsKnown,
            // An import of readings of passages may also have brought readings of events.
            false => OpenReadings::LookUp,
        };
        self.catch_up(space, open).await?;
        if !acts {
            return Ok(());
        }
        // Receipts are completed first, so that the receipt of an erasure is complete when its watermark is reached.
        let receipts = &self.backends.receipts;
        receipts.complete(space, *position, host::clock::now()).await?;
        match self.backends.records.mark_written(space, *position).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            outcome => Ok(outcome?),
        }
    }

    /// Brings a space up to date without a message about it.
    pub(crate) async fn bring_up_to_date(&self, space: &SpaceId) -> Result<(), Error> {
        self.catch_up(space, OpenReadings::AsKnown).await
    }

    /// Brings a space up to date after readings of its open questions were stored.
    pub(crate) async fn mark_open_questions(&self, space: &SpaceId) -> Result<(), Error> {
        self.catch_up(space, OpenReadings::LookUp).await
    }

    /// Returns the next space after `last`, by name and in a circle, with open questions that `may_ask` admits.
    pub(crate) fn next_open_questions(
        &self,
        last: Option<&SpaceId>,
        may_ask: impl Fn(&SpaceId) -> bool,
    ) -> Option<(SpaceId, Vec<OpenQuestion>)> {
        let questions = self.open_questions();
        let (before, after): (Vec<_>, Vec<_>) = questions
            .iter()
            .filter(|it| may_ask(it.0))
            .partition(|it| last.is_some_and(|last| it.0 <= last));
        let next = after.first().or(before.first())?;
        Some((next.0.clone(), next.1.clone()))
    }

    /// Returns true if a space has open questions.
    pub(crate) fn has_open_questions(&self, space: &SpaceId) -> bool {
        self.open_questions().contains_key(space)
    }

    /// Returns true if all of these questions about a space are still open.
    pub(crate) fn asks_all_of(&self, space: &SpaceId, questions: &[OpenQuestion]) -> bool {
        let open = self.open_questions();
        open.get(space)
            .is_some_and(|open| questions.iter().all(|it| open.contains(it)))
    }

    /// Applies all changes since the last call and stores the derived data that follows from them. If another process
    /// has stored derived data in the meantime, the in-memory state no longer matches the store, and the space is
    /// computed again.
    async fn catch_up(&self, space: &SpaceId, open: OpenReadings) -> Result<(), Error> {
        let _gate = self.gates.enter(space).await;
        // Taken out of the cache: after a failure half-way, the state is computed again from the store.
        let mut followed = self.lock_spaces().remove_value(space);
        for _ in 0..ATTEMPTS {
            let outcome = self
                .catch_up_once(space, followed.take(), open)
                .instrument(info_span!("catch_up", %space))
                .await;
            let outcome = match outcome {
                Ok(Some(followed)) => self.find_questions(space, followed).await.map(Some),
                outcome => outcome,
            };
            match outcome {
                Ok(Some(followed)) => {
                    let bytes = followed.estimated_bytes();
                    let evicted = self.lock_spaces().insert_and_evict(space.clone(), followed, bytes);
                    if !evicted.is_empty() {
                        // Dropping millions of values would block an async thread.
                        host::spawn_background(move || drop(evicted)).await?;
                    }
                    return Ok(());
                }
                Ok(None) => {
                    self.keep_questions(space, Vec::new());
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.keep_questions(space, Vec::new());
                    debug!(%space, "the space was deleted, nothing to organise");
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    debug!(%space, "another clusterer organised the space, its state is computed again")
                }
                Err(error) => {
                    if matches!(error, Error::Spilled) {
                        // The questions may show an event that was forgotten since.
                        self.keep_questions(space, Vec::new());
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Contended)
    }

    fn lock_spaces(&self) -> MutexGuard<'_, Cache<SpaceId, Followed>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_questions(&self) -> MutexGuard<'_, BTreeMap<SpaceId, Vec<OpenQuestion>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the open questions of a space, if a language model is configured.
    async fn find_questions(&self, space: &SpaceId, followed: Followed) -> Result<Followed, Error> {
        if !self.asks {
            return Ok(followed);
        }
        let own = space.clone();
        let (followed, questions) = host::spawn_background(move || {
            let questions = question_lists::list_open_questions(&own, &followed.memory);
            (followed, questions)
        })
        .await?;
        if followed.is_damaged() {
            // It may not be known which events are hidden.
            return Err(Error::Spilled);
        }
        self.keep_questions(space, questions);
        Ok(followed)
    }

    fn keep_questions(&self, space: &SpaceId, questions: Vec<OpenQuestion>) {
        if !self.asks {
            return;
        }
        let mut all = self.open_questions();
        all.remove(space);
        if !questions.is_empty() && all.len() < ASKING_MAX {
            all.insert(space.clone(), questions);
        }
    }

    async fn catch_up_once(
        &self,
        space: &SpaceId,
        known: Option<Followed>,
        mut open: OpenReadings,
    ) -> Result<Option<Followed>, Error> {
        let Some(info) = self.backends.records.space(space).await? else {
            return Ok(None);
        };
        let mut followed = match known.filter(|it| it.created_at == info.created_at && !it.is_damaged()) {
            Some(followed) => followed,
            None => self.load_followed(space, info.created_at).await?,
        };
        let (sequence, curations) = (followed.sequence, followed.curations);
        // Curations are never changed or deleted, so an equal count means equal curations.
        if info.revision.curations > curations {
            let decided = read_curations(&self.backends, space).await?;
            followed.curations = decided.len() as u64;
            followed.acts = Acts::from_curations(&decided);
        }
        loop {
            let progress;
            (followed, progress) = self.take_in_units(space, followed).await?;
            followed = self.take_in_readings(space, followed, open).await?;
            let changed;
            (followed, changed) = self
                .derive_changes(space, followed, progress)
                .instrument(info_span!("derive"))
                .await?;
            if followed.is_damaged() {
                return Err(Error::Spilled);
            }
            let moved = (sequence, curations) != (followed.sequence, followed.curations);
            if followed.stored.is_compared() && (moved || !changed.put.is_empty() || !changed.removed.is_empty()) {
                let span = info_span!("put_derived", put = changed.put.len(), gone = changed.removed.len());
                let write = write_changes(&*self.backends.graph, space, followed.turn, &changed);
                followed.turn = write.instrument(span).await?;
            }
            if progress == Progress::Complete {
                return Ok(Some(followed));
            }
            open = OpenReadings::AsKnown;
        }
    }

    /// Returns the derived data that follows from everything applied so far and differs from the store. The readings
    /// of pages are looked up only after the pages are known.
    async fn derive_changes(
        &self,
        space: &SpaceId,
        mut followed: Followed,
        progress: Progress,
    ) -> Result<(Followed, ChangedObjects), Error> {
        let (own, read) = (space.clone(), read_page_visits(&self.backends, space).await?);
        let is_stored = progress == Progress::Complete || followed.stored.is_compared();
        let (mut followed, mut changed, read) = host::spawn_background(move || {
            let mut changed = followed.memory.take_changes_without_pages(&own, &followed.acts);
            // The next changes affect most of these pages again.
            if is_stored || followed.memory.count_affected_pages() >= WAITING_PAGES_MAX {
                changed.append_changes(followed.memory.changed_pages(&own, &read));
            }
            (followed, changed, read)
        })
        .await?;
        let places = followed.memory.unlooked_pages();
        let summaries = look_up_sayings(&self.backends, space, &places, PageSummary::from_reading).await?;
        let (own, spilling) = (space.clone(), self.spilling.clone());
        Ok(host::spawn_background(move || {
            followed.memory.take_in_summaries(&places, &summaries);
            if !places.is_empty() {
                changed.replace_with_later_pass(followed.memory.changed_pages(&own, &read));
            }
            let is_first = !followed.stored.is_compared();
            let changed = followed
                .stored
                .take_differences(changed, progress == Progress::Complete);
            let ends_first = is_first && followed.stored.is_compared();
            spilling.spill_after_changes(&mut followed, ends_first);
            (followed, changed)
        })
        .await?)
    }

    /// Applies the next changes of units, at most [`BATCHES`] batches of them.
    async fn take_in_units(&self, space: &SpaceId, mut followed: Followed) -> Result<(Followed, Progress), Error> {
        for _ in 0..BATCHES {
            let changes = self.backends.graph.changes(space, followed.sequence, AT_ONCE).await?;
            let Some(last) = changes.last() else {
                return Ok((followed, Progress::Complete));
            };
            followed.sequence = last.sequence;
            let spilling = self.spilling.clone();
            followed = host::spawn_background(move || {
                followed.apply_units(&changes);
                spilling.spill_after_many_units(&mut followed);
                followed
            })
            .await?;
        }
        Ok((followed, Progress::Partial))
    }

    /// Looks up and applies what language models said of undecided pairs of events and of names, and of topics.
    async fn take_in_readings(
        &self,
        space: &SpaceId,
        mut followed: Followed,
        open: OpenReadings,
    ) -> Result<Followed, Error> {
        if open == OpenReadings::LookUp {
            followed.memory.mark_open_questions();
        }
        let own = space.clone();
        let (mut followed, pairs, places, people) = host::spawn_background(move || {
            let pairs = followed.memory.event_pairs_to_look_up();
            let places = followed.memory.unlooked_labels();
            let people = followed.memory.unlooked_people(&own);
            (followed, pairs, places, people)
        })
        .instrument(info_span!("judge"))
        .await?;
        if !pairs.is_empty() {
            let verdicts = look_up(&self.backends, space, &pairs).await?;
            followed.memory.apply_readings(&pairs, &verdicts);
        }
        if !places.is_empty() {
            let labels = look_up_labels(&self.backends, space, &places).await?;
            followed.memory.take_in_labels(&places, &labels);
        }
        let verdicts = look_up_sayings(&self.backends, space, &people, PeopleJudgement::from_reading).await?;
        followed.memory.take_in_people(&people, &verdicts);
        Ok(followed)
    }

    /// Reads the stored state. The turn is read first, so that a later write is detected as a conflict.
    async fn load_followed(&self, space: &SpaceId, created_at: DateTime<Utc>) -> Result<Followed, Error> {
        let graph = &*self.backends.graph;
        let turn = graph.derived_write_count(space).await?;
        Ok(Followed {
            created_at,
            sequence: 0,
            curations: 0,
            acts: Acts::default(),
            memory: Memory::default(),
            spilled: None,
            units_since_spill: 0,
            units_in_round: 0,
            stored: StoredDigests::read_from_graph(graph, space).await?,
            turn,
        })
    }
}
