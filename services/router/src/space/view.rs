//! The materialized view of a space in the router: all units of one grain, usually turns, in reading order, with the
//! data that is computed from each unit once.

mod arrangement;
mod bytes;
mod columns;
mod files;
mod head;
mod labels;
mod merge_order;
mod missing_turns;
mod rarities;
mod region;
mod scan_data;
mod sections;
mod speakers;
mod texts;
mod turn;
mod turn_image;
mod unit_block;
mod unit_fields;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Utc};
use domain::evidence::Amendment;
use domain::filter::Filter;
use domain::id::{RecordId, UnitId};
use domain::port::Change;
use domain::unit::{Grain, Status, Unit};
use domain::version::Versions;
use rustc_hash::FxHashMap;

pub use head::UnitHead;

use arrangement::{Arrangement, ChangedUnits};
use files::UsedFiles;
use labels::Labels;
pub(crate) use missing_turns::compute_missing_turns;
use rarities::Rarities;
pub use scan_data::{ScanData, SoughtStems, stem_bits};
pub use sections::{Part, Sentence};
pub use speakers::Speakers;
pub use text::people::role::is_user;
pub use turn::Turn;
pub(crate) use unit_block::{BlockWriter, TurnChange, VERSION, decode_block};

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
    arrangement: Arrangement,
    /// Units that changed since the turns were arranged.
    changed: ChangedUnits,
    speakers: Speakers,
    rarities: Rarities,
    marks: Marks,
    labels: Labels,
    files: UsedFiles,
    /// Names of speakers and addressees, each stored once.
    names_of_people: HashSet<Arc<str>>,
}

/// The grain of the units in a view; turns by default.
#[derive(Clone, Copy)]
struct ViewGrain(Grain);

impl Default for ViewGrain {
    fn default() -> ViewGrain {
        ViewGrain(Grain::Turn)
    }
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
    /// Units that state facts which were corrected or taken back, with the decisions about each of these facts in the
    /// order in which they were made.
    pub amended: BTreeMap<UnitId, Vec<Vec<Amendment>>>,
}

impl Marks {
    /// Returns true if a unit is evidence as of a moment; without a moment, as of now.
    pub fn is_evidence_at(&self, unit: UnitId, as_of: Option<DateTime<Utc>>) -> bool {
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
    pub fn from_units(units: impl IntoIterator<Item = Unit>) -> View {
        let mut view = View::default();
        view.apply_changes(units.into_iter().map(|unit| Change { sequence: 0, unit }));
        view
    }

    /// Returns the turn of a unit, also if the view is not arranged yet.
    pub(crate) fn find_turn(&self, unit: UnitId) -> Option<&Turn> {
        self.units.get(&unit).map(Arc::as_ref)
    }

    /// Applies changes, in order. Units of other grains are ignored, and units that are not active are removed.
    pub fn apply_changes(&mut self, changes: impl IntoIterator<Item = Change>) {
        let changes: Vec<Change> = changes.into_iter().collect();
        let mut turns: Vec<Option<Turn>> = changes.iter().map(|_| None).collect();
        self.stage_changes(&changes, &mut turns);
        if !self.is_arranged() {
            self.arrange_turns();
        }
    }

    /// Applies changes, which become visible when the view is arranged. `turns` are the turns of the changes that are
    /// known already, at the same places; those of the grain of the view are taken. The others are computed.
    pub(crate) fn stage_changes(&mut self, changes: &[Change], turns: &mut [Option<Turn>]) {
        // If a unit changed several times, only its last state counts.
        let mut latest: BTreeMap<UnitId, usize> = BTreeMap::new();
        for (place, it) in changes.iter().enumerate() {
            self.sequence = self.sequence.max(it.sequence);
            if it.unit.grain == self.grain.0 {
                latest.insert(it.unit.id, place);
            }
        }
        self.changed.add_units(latest.keys());
        for id in latest.keys() {
            if let Some(old) = self.units.remove(id) {
                self.update_term_counts(&old, false);
                self.files.count_turn(&old, false);
                self.labels.remove_unit(&old.labels);
            }
        }
        latest.retain(|_, it| changes[*it].unit.status == Status::Active);
        let places: Vec<usize> = latest.into_values().collect();
        compute_missing_turns(changes, turns, &places);
        for place in places {
            let Some(mut turn) = turns[place].take() else { continue };
            let unit = &changes[place].unit;
            turn.labels = self.labels.add_unit(unit.tags.clone(), unit.metadata.clone());
            turn.unit.share_names(&mut self.names_of_people);
            let turn = Arc::new(turn);
            self.update_term_counts(&turn, true);
            self.files.count_turn(&turn, true);
            self.units.insert(turn.unit.id, turn);
        }
    }

    /// Returns the units whose tags and metadata a filter selects.
    pub fn select_by_labels(&self, filter: &Filter) -> HashSet<UnitId> {
        let sieve = self.labels.prepare_sieve(filter);
        let taken = self.turns().iter().filter(|it| sieve.selects_unit(&it.labels));
        taken.map(|it| it.unit.id).collect()
    }

    /// Returns true if every applied change is visible.
    pub(crate) fn is_arranged(&self) -> bool {
        self.changed.is_empty()
    }

    /// Replaces all decisions about turns.
    pub fn set_marks(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// Returns the decisions about turns.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the last decision about each statement of a turn, up to a moment if one is given.
    pub fn amendments_of_unit(
        &self,
        unit: UnitId,
        as_of: Option<DateTime<FixedOffset>>,
    ) -> impl Iterator<Item = &Amendment> {
        let decided = self.marks.amended.get(&unit).into_iter().flatten();
        let was_made = move |it: &&Amendment| as_of.is_none_or(|as_of| it.at <= as_of);
        decided.filter_map(move |it| it.iter().rfind(was_made))
    }

    /// Returns the sequence of the latest applied change.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Returns the turns: sessions by their first moment, inside a session by (observed at, ordinal, id).
    pub fn turns(&self) -> &[Arc<Turn>] {
        &self.arrangement.turns
    }

    /// Returns the data of each turn that every question reads.
    pub fn scan_data(&self) -> &ScanData {
        &self.arrangement.scan_data
    }

    /// Returns the ranges of the sessions in [`View::turns`], in order.
    pub fn session_ranges(&self) -> &[Range<usize>] {
        &self.arrangement.sessions
    }

    /// Returns the index of the session of a turn.
    pub fn session_of(&self, turn: usize) -> usize {
        self.arrangement.session_of[turn] as usize
    }

    /// Returns the index of the speaker of a turn.
    pub fn speaker_of(&self, turn: usize) -> Option<usize> {
        self.arrangement.speaker_of[turn].map(|it| it as usize)
    }

    /// Returns true if a turn follows a question by another speaker in the same session.
    pub fn follows_question(&self, turn: usize) -> bool {
        self.arrangement.replies[turn]
    }

    /// Returns the position of a unit among the turns.
    pub fn position_of_unit(&self, unit: UnitId) -> Option<usize> {
        self.arrangement.places.get(&unit).map(|&it| it as usize)
    }

    /// Returns the positions of the turns of a record, in order: one, or several for a long record. A view of gists has
    /// none.
    pub fn places_of_record(&self, record: RecordId) -> impl Iterator<Item = usize> + '_ {
        (0..=u16::MAX).map_while(move |part| self.position_of_unit(UnitId::of_part(record, part)))
    }

    /// Returns the number of parts of all turns.
    pub fn part_count(&self) -> usize {
        self.parts
    }

    /// Returns roughly how many bytes the view takes.
    pub fn size_in_bytes(&self) -> usize {
        self.bytes + self.labels.size_in_bytes()
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
        self.rarities.get_or_compute(place, || {
            let words = self.turns()[place].words().iter();
            words.map(|&it| self.idf(self.word_parts(it))).sum()
        })
    }

    /// Returns the rarity of a semantic frame among the turns, 0 to 1; 1 if at most one turn has the frame.
    pub fn frame_rarity(&self, frame: u32) -> f32 {
        self.idf(self.frames.get(&frame).copied().unwrap_or_default().max(1)) / self.idf(1)
    }

    fn update_term_counts(&mut self, turn: &Turn, add: bool) {
        for part in turn.parts() {
            update_counts(&mut self.words, &part.distinct_words(), add);
            update_counts(&mut self.pieces, &part.distinct_pieces(), add);
        }
        update_counts(&mut self.names, turn.names(), add);
        update_counts(&mut self.frames, &turn.frames.iter().collect::<Vec<u32>>(), add);
        self.speakers.count_turn(turn, add);
        let bytes = turn.size_in_bytes();
        if add {
            self.parts += turn.part_count();
            self.bytes += bytes;
        } else {
            self.parts -= turn.part_count();
            self.bytes -= bytes;
        }
    }

    /// Puts the turns into reading order.
    pub(crate) fn arrange_turns(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let present = self.speakers.update_names();
        if !self.arrange_changed_turns(&changed, present.as_deref()) {
            self.arrangement = Arrangement::from_turns(self.units.values(), &self.speakers);
        }
        self.rarities = Rarities::of_turns(self.turns().len());
        // Names that only the set itself holds belong to no unit any more.
        self.names_of_people.retain(|it| Arc::strong_count(it) > 1);
    }

    /// Puts the changed turns at their places among the others. `speakers` are the present numbers of the former
    /// speakers. Returns false if all turns have to be arranged again.
    fn arrange_changed_turns(&mut self, changed: &ChangedUnits, speakers: Option<&[u32]>) -> bool {
        let few = changed.ids().filter(|it| it.len() < self.turns().len());
        let (Some(ids), Some(speakers)) = (few, speakers) else {
            return false;
        };
        let is_removed = |it: &UnitId| !self.units.contains_key(it) && self.arrangement.contains(*it);
        if ids.iter().any(is_removed) {
            return false;
        }
        self.arrangement.renumber_speakers(speakers);
        let turns = ids.iter().filter_map(|it| self.units.get(it)).collect();
        self.arrangement.put_turns(turns, &self.speakers.numbers())
    }
}

fn update_counts(counts: &mut FxHashMap<u32, u32>, terms: &[u32], add: bool) {
    for term in terms {
        let count = counts.entry(*term).or_default();
        *count = if add { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            counts.remove(term);
        }
    }
}
