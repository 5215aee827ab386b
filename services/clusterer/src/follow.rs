//! Keeps what is derived in step with the units of spaces.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use domain::curation::Curation;
use domain::id::{PageId, SpaceId};
use domain::message::UnitsOrganisedV1;
use domain::port::Change;
use domain::recall::NoteKind;
use domain::unit::{Grain, Status, Unit};
use domain::{Classify, ErrorKind};
use host::Backends;
use tracing::{Instrument, debug, info_span};

use crate::cache::Cache;
use crate::coreference::Question;
use crate::coreference_readings::look_up;
use crate::label_readings::look_up_labels;
use crate::labels::LabelQuestion;
use crate::lookups::look_up_sayings;
use crate::memory::Memory;
use crate::people::{PeopleQuestion, PeopleVerdict};
use crate::stored::{self, Stored};
use crate::summaries::{PageSummary, SummaryQuestion};
use crate::{Acts, Changed, Error};

/// Spaces that can be followed at once; two spaces share a gate now and then.
const GATES: usize = 8;
/// A space that others organise too is counted anew so often before its message waits.
const ATTEMPTS: usize = 4;
/// Changes and curations read in one step.
const AT_ONCE: usize = 1_000;
/// The scope in which the gateway notes which pages were read.
const PAGES: &str = "pages";
/// Questions about events, names, topics and pages of one space that are known to be open at a time,
const QUESTIONS_MAX: usize = 16;
const PEOPLE_MAX: usize = 4;
const LABELS_MAX: usize = 8;
const SUMMARIES_MAX: usize = 4;
/// and spaces that have some; those of others are known again when the space changes, or after a start.
const ASKING_MAX: usize = 10_000;

/// Memories of the spaces that changed last.
pub(crate) struct Follower {
    backends: Backends,
    /// Messages of one space go through one after another.
    gates: Vec<tokio::sync::Mutex<()>>,
    spaces: Mutex<Cache<SpaceId, Followed>>,
    /// Whether a language model is asked.
    asks: bool,
    /// What it is to be asked, as of the last time that each space was caught up with.
    questions: Mutex<BTreeMap<SpaceId, Vec<OpenQuestion>>>,
}

/// Something that a language model is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenQuestion {
    /// Whether an event is one of some earlier ones.
    Events(Question),
    /// Whether a name is the same person's as some others.
    People(PeopleQuestion),
    /// What a topic is called.
    Label(LabelQuestion),
    /// What a page says in short.
    Summary(SummaryQuestion),
}

/// Whether the readings of pairs of events and of names, of topics and of pages that have none are looked up again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenReadings {
    AsKnown,
    LookUp,
}

pub(crate) struct Followed {
    /// Tells a space from an erased one of the same name.
    created_at: DateTime<Utc>,
    /// Last change taken in.
    sequence: u64,
    /// Number of curations read, and what they come to.
    curations: u64,
    acts: Acts,
    memory: Memory,
    stored: Stored,
    /// Turn in which what follows is stored.
    turn: u64,
}

impl Follower {
    /// Makes one that keeps what a language model is to be asked, if one is.
    pub(crate) fn new(backends: Backends, spaces: Cache<SpaceId, Followed>, asks: bool) -> Follower {
        Follower {
            backends,
            asks,
            questions: Mutex::default(),
            gates: (0..GATES).map(|_| tokio::sync::Mutex::default()).collect(),
            spaces: Mutex::new(spaces),
        }
    }

    /// Catches up with the space of a message. What was decided in its batch is taken up by then, so its watermark is reached.
    pub(crate) async fn follow(&self, message: &UnitsOrganisedV1) -> Result<(), Error> {
        let UnitsOrganisedV1 {
            space,
            position,
            acts,
            reading,
        } = message;
        let open = match reading.is_empty() {
            true => OpenReadings::AsKnown,
            // Whoever brings readings of passages from elsewhere may have brought some of events.
            false => OpenReadings::LookUp,
        };
        self.catch_up(space, open).await?;
        if !acts {
            return Ok(());
        }
        // First: a receipt is complete by the time the watermark of its erasure is reached.
        let receipts = &self.backends.receipts;
        receipts.complete(space, *position, host::clock::now()).await?;
        match self.backends.records.mark_written(space, *position).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            outcome => Ok(outcome?),
        }
    }

    /// Catches up with a space of which nothing was heard.
    pub(crate) async fn count(&self, space: &SpaceId) -> Result<(), Error> {
        self.catch_up(space, OpenReadings::AsKnown).await
    }

    /// Catches up with a space in which pairs of events were judged.
    pub(crate) async fn look_for_open(&self, space: &SpaceId) -> Result<(), Error> {
        self.catch_up(space, OpenReadings::LookUp).await
    }

    /// Returns the next space after `last`, by name and round again, that has questions and may be asked about, with them.
    pub(crate) fn questions(
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

    /// Says whether all of these questions of a space are open.
    pub(crate) fn asks_all_of(&self, space: &SpaceId, questions: &[OpenQuestion]) -> bool {
        let open = self.open_questions();
        open.get(space)
            .is_some_and(|open| questions.iter().all(|it| open.contains(it)))
    }

    /// Takes in whatever changed since the last time and stores what follows from it. If somebody else stored anything since,
    /// what is held says nothing of the store any more, and the space is counted anew.
    async fn catch_up(&self, space: &SpaceId, open: OpenReadings) -> Result<(), Error> {
        let _gate = self.gates[gate(space)].lock().await;
        // Taken out while it is worked on: what fails half-way is counted again from the store.
        let mut followed = self.spaces().take(space);
        for _ in 0..ATTEMPTS {
            let outcome = self
                .followed(space, followed.take(), open)
                .instrument(info_span!("catch_up", %space))
                .await;
            match outcome {
                Ok(Some(followed)) => {
                    let followed = self.find_questions(space, followed).await?;
                    let bytes = followed.memory.bytes();
                    let gone = self.spaces().put(space.clone(), followed, bytes);
                    if !gone.is_empty() {
                        // Millions of things are dropped elsewhere than on an async thread.
                        host::background(move || drop(gone)).await?;
                    }
                    return Ok(());
                }
                Ok(None) => {
                    self.keep_questions(space, Vec::new());
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.keep_questions(space, Vec::new());
                    debug!(%space, "space is gone, nothing to organise");
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    debug!(%space, "organised by others, counted anew")
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended)
    }

    fn spaces(&self) -> MutexGuard<'_, Cache<SpaceId, Followed>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_questions(&self) -> MutexGuard<'_, BTreeMap<SpaceId, Vec<OpenQuestion>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds what a language model is to be asked of a space, if one is.
    async fn find_questions(&self, space: &SpaceId, followed: Followed) -> Result<Followed, Error> {
        if !self.asks {
            return Ok(followed);
        }
        let own = space.clone();
        let (followed, questions) = host::background(move || {
            let questions = open_questions(&own, &followed.memory);
            (followed, questions)
        })
        .await?;
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

    async fn followed(
        &self,
        space: &SpaceId,
        known: Option<Followed>,
        open: OpenReadings,
    ) -> Result<Option<Followed>, Error> {
        let Some(info) = self.backends.records.space(space).await? else {
            return Ok(None);
        };
        let mut followed = match known.filter(|it| it.created_at == info.created_at) {
            Some(followed) => followed,
            None => self.anew(space, info.created_at).await?,
        };
        let (sequence, curations) = (followed.sequence, followed.curations);
        // None is ever changed or taken away, so as many as were read are those that were read.
        if info.revision.curations > curations {
            let decided = self.curations(space).await?;
            followed.curations = decided.len() as u64;
            followed.acts = Acts::of(&decided);
        }
        followed = self.take_in_units(space, followed).await?;
        followed = self.take_in_readings(space, followed, open).await?;
        let (mut followed, changed) = self.derive(space, followed).instrument(info_span!("derive")).await?;
        let moved = (sequence, curations) != (followed.sequence, followed.curations);
        if moved || !changed.put.is_empty() || !changed.gone.is_empty() {
            let span = info_span!("put_derived", put = changed.put.len(), gone = changed.gone.len());
            let graph = &*self.backends.graph;
            let write = stored::write(graph, space, (followed.turn, &changed));
            followed.turn = write.instrument(span).await?;
        }
        Ok(Some(followed))
    }

    /// Returns what follows from all that was taken in and differs from what is stored. What models said of pages is looked up once it
    /// is known which pages there are.
    async fn derive(&self, space: &SpaceId, mut followed: Followed) -> Result<(Followed, Changed), Error> {
        let (own, read) = (space.clone(), self.read(space).await?);
        let (mut followed, mut changed, read) = host::background(move || {
            let changed = followed.memory.changed(&own, &followed.acts, &read);
            (followed, changed, read)
        })
        .await?;
        let places = followed.memory.unlooked_pages();
        let summaries = look_up_sayings(&self.backends, space, &places, PageSummary::of).await?;
        let own = space.clone();
        Ok(host::background(move || {
            followed.memory.take_in_summaries(&places, &summaries);
            if !places.is_empty() {
                changed.replace(followed.memory.changed_pages(&own, &read));
            }
            let changed = followed.stored.differing(changed);
            (followed, changed)
        })
        .await?)
    }

    async fn take_in_units(&self, space: &SpaceId, mut followed: Followed) -> Result<Followed, Error> {
        loop {
            let changes = self.backends.graph.changes(space, followed.sequence, AT_ONCE).await?;
            let Some(last) = changes.last() else {
                return Ok(followed);
            };
            followed.sequence = last.sequence;
            followed = host::background(move || {
                for Change { unit, .. } in &changes {
                    followed.memory.apply(unit, vector(unit).as_deref());
                }
                followed
            })
            .await?;
        }
    }

    /// Takes in what language models said of pairs of events and of names of which the rules are unsure, and of topics.
    async fn take_in_readings(
        &self,
        space: &SpaceId,
        mut followed: Followed,
        open: OpenReadings,
    ) -> Result<Followed, Error> {
        if open == OpenReadings::LookUp {
            followed.memory.look_for_open();
        }
        let own = space.clone();
        let (mut followed, pairs, places, people) = host::background(move || {
            let pairs = followed.memory.unlooked();
            let places = followed.memory.unlooked_labels();
            let people = followed.memory.unlooked_people(&own);
            (followed, pairs, places, people)
        })
        .instrument(info_span!("judge"))
        .await?;
        if !pairs.is_empty() {
            let verdicts = look_up(&self.backends, space, &pairs).await?;
            followed.memory.take_in(&pairs, &verdicts);
        }
        if !places.is_empty() {
            let labels = look_up_labels(&self.backends, space, &places).await?;
            followed.memory.take_in_labels(&places, &labels);
        }
        let verdicts = look_up_sayings(&self.backends, space, &people, PeopleVerdict::of).await?;
        followed.memory.take_in_people(&people, &verdicts);
        Ok(followed)
    }

    /// Reads what is stored, to count a space from its first unit on. The turn first: what is stored behind it is noticed.
    async fn anew(&self, space: &SpaceId, created_at: DateTime<Utc>) -> Result<Followed, Error> {
        let graph = &*self.backends.graph;
        let turn = graph.derived_turn(space).await?;
        Ok(Followed {
            created_at,
            sequence: 0,
            curations: 0,
            acts: Acts::default(),
            memory: Memory::default(),
            stored: Stored::read(graph, space).await?,
            turn,
        })
    }

    async fn curations(&self, space: &SpaceId) -> Result<Vec<Curation>, Error> {
        let mut all: Vec<Curation> = Vec::new();
        loop {
            let after = all.last().map(|it| it.id);
            let page = self.backends.records.curations(space, after, AT_ONCE).await?;
            let full = page.len() == AT_ONCE;
            all.extend(page);
            if !full {
                return Ok(all);
            }
        }
    }

    /// When each page was last read.
    async fn read(&self, space: &SpaceId) -> Result<BTreeMap<PageId, DateTime<Utc>>, Error> {
        let notes = self.backends.records.notes(space, PAGES).await?;
        let read = notes.into_iter().filter(|it| it.kind == NoteKind::Read);
        Ok(read.map(|it| (PageId::from_uuid(it.subject), it.at)).collect())
    }
}

/// Returns what a language model is to be asked of a memory.
fn open_questions(space: &SpaceId, memory: &Memory) -> Vec<OpenQuestion> {
    let events = memory.questions(QUESTIONS_MAX).into_iter().map(OpenQuestion::Events);
    let people = memory.people_questions(space, PEOPLE_MAX).into_iter();
    let labels = memory.label_questions(LABELS_MAX).into_iter().map(OpenQuestion::Label);
    let pages = memory.summary_questions(space, SUMMARIES_MAX).into_iter();
    let events = events.chain(people.map(OpenQuestion::People));
    events.chain(labels).chain(pages.map(OpenQuestion::Summary)).collect()
}

/// Returns the vector of the summary of an event unit, as far as it stands; by the built-in table, whatever the index is
/// searched with: how near the same event and the same topic are was measured with it.
fn vector(unit: &Unit) -> Option<Vec<f32>> {
    let stands = unit.grain == Grain::Event && matches!(unit.status, Status::Active | Status::Merged);
    stands.then(|| text::Table::builtin().embed(&unit.summary))
}

fn gate(space: &SpaceId) -> usize {
    let mut hasher = DefaultHasher::new();
    space.hash(&mut hasher);
    usize::try_from(hasher.finish() % GATES as u64).unwrap_or_default()
}
