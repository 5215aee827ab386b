//! A space as the router sees it: all units of one grain, usually turns, in reading order, with the data that is
//! computed from each unit once.

mod glimpse;
mod image;
mod labels;
mod rarities;
mod speakers;
mod turn;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::evidence::Amendment;
use domain::filter::Filter;
use domain::id::{RecordId, SessionId, UnitId};
use domain::port::{Change, Image, ImagedChange};
use domain::unit::{Grain, Status, Unit};
use domain::version::Versions;
use rustc_hash::FxHashMap;

pub use glimpse::{Glimpses, bits};
pub(crate) use image::VERSION;
use labels::Labels;
use rarities::Rarities;
pub use speakers::{Speakers, is_role};
pub use text::role::is_user;
pub use turn::{Part, Sentence, Turn};

/// Least number of units for which a thread is started.
const SHARE_LEAST: usize = 64;

/// The units of one grain of a space with their features: its turns or its gists, which are measured like turns. Equal
/// units give an equal view, in whatever order they arrive.
#[derive(Clone, Default)]
pub struct View {
    grain: ViewGrain,
    sequence: u64,
    units: BTreeMap<UnitId, Arc<Turn>>,
    words: FxHashMap<u32, u32>,
    pieces: FxHashMap<u32, u32>,
    names: FxHashMap<u32, u32>,
    frames: FxHashMap<u32, u32>,
    parts: usize,
    bytes: usize,
    turns: Vec<Arc<Turn>>,
    glimpses: Glimpses,
    places: HashMap<UnitId, u32>,
    sessions: Vec<Range<usize>>,
    session_of: Vec<u32>,
    speaker_of: Vec<Option<u32>>,
    speakers: Speakers,
    rarities: Rarities,
    marks: Marks,
    unarranged: bool,
    labels: Labels,
}

/// The grain of the units in a view; turns by default.
#[derive(Clone, Copy)]
struct ViewGrain(Grain);

impl Default for ViewGrain {
    fn default() -> ViewGrain {
        ViewGrain(Grain::Turn)
    }
}

/// A unit whose turn was computed, and the sequence of the change after which it was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Computed {
    pub(crate) unit: UnitId,
    pub(crate) sequence: u64,
}

/// Decisions of people about turn units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Units that rank before their equals.
    pub pinned: BTreeSet<UnitId>,
    /// Units that are not evidence any more.
    pub forgotten: BTreeSet<UnitId>,
    /// Versions of records. A version that was replaced is not evidence from that moment on.
    pub versions: Arc<Versions>,
    /// Units that state a fact which was corrected or taken back, with the present value.
    pub amended: BTreeMap<UnitId, Vec<Amendment>>,
}

impl Marks {
    /// Returns true if a unit is evidence as of a moment; without a moment, as of now.
    pub fn tells(&self, unit: UnitId, as_of: Option<DateTime<Utc>>) -> bool {
        let is_told = |at: DateTime<Utc>| as_of.is_some_and(|it| it < at);
        !self.forgotten.contains(&unit) && self.versions.replaced_at(unit).is_none_or(is_told)
    }

    /// Returns true if all units are evidence.
    pub fn tell_all(&self) -> bool {
        self.forgotten.is_empty() && self.versions.is_empty()
    }
}

impl View {
    /// Makes an empty view for the units of one grain.
    pub fn of_grain(grain: Grain) -> View {
        View {
            grain: ViewGrain(grain),
            ..View::default()
        }
    }

    /// Makes a view of the turns among `units`.
    pub fn of(units: impl IntoIterator<Item = Unit>) -> View {
        let mut view = View::default();
        view.apply(units.into_iter().map(|unit| Change { sequence: 0, unit }));
        view
    }

    /// Returns the images of some computed units that are still among the turns. The store decides whether a unit has
    /// changed since then.
    pub(crate) fn images(&self, computed: &[Computed]) -> Vec<Image> {
        let turns = computed.iter().filter_map(|it| Some((it, self.units.get(&it.unit)?)));
        let images = turns.map(|(it, turn)| Image {
            unit: it.unit,
            sequence: it.sequence,
            body: image::encode(turn),
        });
        images.collect()
    }

    /// Applies changes, in order. Units of other grains are ignored, and units that are not active are removed.
    pub fn apply(&mut self, changes: impl IntoIterator<Item = Change>) {
        let imageless = |change| ImagedChange { change, image: None };
        self.take(changes.into_iter().map(imageless));
        if self.unarranged {
            self.arrange();
        }
    }

    /// Applies changes, which become visible when the view is arranged. Returns the turns that had no valid image and
    /// were computed.
    pub(crate) fn take(&mut self, changes: impl IntoIterator<Item = ImagedChange>) -> Vec<Computed> {
        // If a unit changed several times, only its last state counts.
        let mut latest: BTreeMap<UnitId, ImagedChange> = BTreeMap::new();
        for it in changes {
            self.sequence = self.sequence.max(it.change.sequence);
            if it.change.unit.grain == self.grain.0 {
                latest.insert(it.change.unit.id, it);
            }
        }
        self.unarranged |= !latest.is_empty();
        for id in latest.keys() {
            if let Some(old) = self.units.remove(id) {
                self.count(&old, false);
                self.labels.remove(&old.labels);
            }
        }
        latest.retain(|_, it| it.change.unit.status == Status::Active);
        let mut without_image = Vec::new();
        for (mut turn, computed) in read(latest.into_values().collect()) {
            without_image.extend(computed);
            let unit = &mut turn.unit;
            turn.labels = self
                .labels
                .add(std::mem::take(&mut unit.tags), std::mem::take(&mut unit.metadata));
            let turn = Arc::new(turn);
            self.count(&turn, true);
            self.units.insert(turn.unit.id, turn);
        }
        without_image
    }

    /// Returns the units whose tags and metadata a filter selects.
    pub fn labelled(&self, filter: &Filter) -> HashSet<UnitId> {
        let sieve = self.labels.sieve(filter);
        let taken = self.turns.iter().filter(|it| sieve.takes(&it.labels));
        taken.map(|it| it.unit.id).collect()
    }

    /// Returns true if every applied change is visible.
    pub(crate) fn is_arranged(&self) -> bool {
        !self.unarranged
    }

    /// Replaces all decisions about turns.
    pub fn mark(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// Returns the decisions about turns.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the decisions about the statements of a turn, up to a moment if one is given.
    pub fn amended(&self, unit: UnitId, as_of: Option<DateTime<FixedOffset>>) -> impl Iterator<Item = &Amendment> {
        let decided = self.marks.amended.get(&unit).into_iter().flatten();
        decided.filter(move |it| as_of.is_none_or(|as_of| it.at <= as_of))
    }

    /// Returns the sequence of the latest applied change.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the turns: sessions by their first moment, inside a session by (observed at, ordinal, id).
    pub fn turns(&self) -> &[Arc<Turn>] {
        &self.turns
    }

    /// Returns the data of each turn that every question reads.
    pub fn glimpses(&self) -> &Glimpses {
        &self.glimpses
    }

    /// Returns the ranges of the sessions in [`View::turns`], in order.
    pub fn sessions(&self) -> &[Range<usize>] {
        &self.sessions
    }

    /// Returns the index of the session of a turn.
    pub fn session_of(&self, turn: usize) -> usize {
        self.session_of[turn] as usize
    }

    /// Returns the index of the speaker of a turn.
    pub fn speaker_of(&self, turn: usize) -> Option<usize> {
        self.speaker_of[turn].map(|it| it as usize)
    }

    /// Returns the position of a unit among the turns.
    pub fn place(&self, unit: UnitId) -> Option<usize> {
        self.places.get(&unit).map(|&it| it as usize)
    }

    /// Returns the positions of the turns of a record, in order: one, or several for a long record. A view of gists has
    /// none.
    pub fn places_of_record(&self, record: RecordId) -> impl Iterator<Item = usize> + '_ {
        (0..=u16::MAX).map_while(move |part| self.place(UnitId::part(record, part)))
    }

    /// Returns the number of parts of all turns.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Returns roughly how many bytes the view takes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.labels.bytes()
    }

    /// Returns the speakers.
    pub fn speakers(&self) -> &Speakers {
        &self.speakers
    }

    /// Returns the number of parts that contain a stem.
    pub fn word_parts(&self, stem: u32) -> u32 {
        self.words.get(&stem).copied().unwrap_or_default()
    }

    /// Returns the number of parts that contain a word piece.
    pub fn piece_parts(&self, piece: u32) -> u32 {
        self.pieces.get(&piece).copied().unwrap_or_default()
    }

    /// Returns the number of turns that contain a stem as part of a name.
    pub fn name_turns(&self, stem: u32) -> u32 {
        self.names.get(&stem).copied().unwrap_or_default()
    }

    /// Returns `ln(1 + (N - df + 0.5) / (df + 0.5))` over the parts.
    pub fn idf(&self, df: u32) -> f32 {
        let (n, df) = (self.parts as f32, df as f32);
        (1.0 + (n - df + 0.5).max(0.0) / (df + 0.5)).ln()
    }

    /// Returns the sum of [`View::idf`] over the words of a turn.
    pub fn rarity_of_turn(&self, place: usize) -> f32 {
        self.rarities.of(place, || {
            let words = self.turns[place].sentences.iter().flat_map(|it| &it.words);
            words.map(|&it| self.idf(self.word_parts(it))).sum()
        })
    }

    /// Returns how rare a semantic frame is among the turns, 0 to 1; 1 if at most one turn has it.
    pub fn frame_rarity(&self, frame: u32) -> f32 {
        self.idf(self.frames.get(&frame).copied().unwrap_or_default().max(1)) / self.idf(1)
    }

    fn count(&mut self, turn: &Turn, add: bool) {
        for part in &turn.parts {
            tally(&mut self.words, &part.words, add);
            tally(&mut self.pieces, &part.pieces, add);
        }
        tally(&mut self.names, &turn.names, add);
        tally(&mut self.frames, &turn.frames.iter().collect::<Vec<u32>>(), add);
        let bytes = turn.bytes();
        if add {
            self.parts += turn.parts.len();
            self.bytes += bytes;
        } else {
            self.parts -= turn.parts.len();
            self.bytes -= bytes;
        }
    }

    /// Puts the turns into reading order.
    pub(crate) fn arrange(&mut self) {
        self.unarranged = false;
        let mut by_session: HashMap<SessionId, Vec<Arc<Turn>>> = HashMap::new();
        for turn in self.units.values() {
            by_session.entry(turn.unit.session).or_default().push(Arc::clone(turn));
        }
        let mut sessions: Vec<Vec<Arc<Turn>>> = by_session.into_values().collect();
        sessions.iter_mut().for_each(|it| it.sort_by(|a, b| in_session(a, b)));
        sessions.sort_by_key(|it| it.first().map(|it| (it.unit.observed_at, it.unit.session)));
        self.turns.clear();
        self.sessions.clear();
        self.session_of.clear();
        for (number, session) in sessions.into_iter().enumerate() {
            let start = self.turns.len();
            self.turns.extend(session);
            self.sessions.push(start..self.turns.len());
            self.session_of.resize(self.turns.len(), number as u32);
        }
        self.glimpses = Glimpses::of(self.turns.iter().map(Arc::as_ref));
        self.places = self.turns.iter().zip(0..).map(|(it, at)| (it.unit.id, at)).collect();
        self.rarities = Rarities::of_turns(self.turns.len());
        self.speakers = Speakers::of(&self.turns);
        self.speaker_of = self.speakers.of_turns(&self.turns);
    }
}

/// Decodes turns from their images, or computes them, on all cores. The first question to a space waits for this step.
fn read(mut units: Vec<ImagedChange>) -> Vec<(Turn, Option<Computed>)> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = units.len().div_ceil(cores).max(SHARE_LEAST);
    let mut shares = Vec::new();
    while units.len() > share {
        shares.push(units.split_off(units.len() - share));
    }
    std::thread::scope(|scope| {
        let turns = |units: Vec<ImagedChange>| units.into_iter().map(turn);
        let others: Vec<_> = shares
            .into_iter()
            .map(|it| scope.spawn(move || turns(it).collect::<Vec<_>>()))
            .collect();
        let mut all: Vec<(Turn, Option<Computed>)> = turns(units).collect();
        for other in others {
            match other.join() {
                Ok(turns) => all.extend(turns),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// Returns a turn. If it had to be computed, also returns its unit and sequence.
fn turn(ImagedChange { change, image }: ImagedChange) -> (Turn, Option<Computed>) {
    let Change { sequence, unit } = change;
    let computed = Computed {
        unit: unit.id,
        sequence,
    };
    let unit = match image {
        Some(image) => match image::decode(unit, &image) {
            Ok(turn) => return (turn, None),
            Err(unit) => *unit,
        },
        None => unit,
    };
    (Turn::new(unit), Some(computed))
}

fn in_session(a: &Turn, b: &Turn) -> Ordering {
    let key = |it: &Turn| (it.unit.observed_at, it.unit.ordinal, it.unit.id);
    key(a).cmp(&key(b))
}

fn tally(counts: &mut FxHashMap<u32, u32>, terms: &[u32], add: bool) {
    for term in terms {
        let count = counts.entry(*term).or_default();
        *count = if add { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            counts.remove(term);
        }
    }
}
