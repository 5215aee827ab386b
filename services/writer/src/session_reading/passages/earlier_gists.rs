//! The earlier gists that a language model is shown with a passage, so that it can relate what it reads to them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use domain::PortError;
use domain::id::{ReadingId, RecordId, SpaceId, UnitId};
use domain::port::Search;
use domain::reading::{GistRef, Reading};
use domain::record::Record;
use domain::unit::{Grain, Status, Unit};
use host::Backends;

use crate::reading::derive::GISTS_MAX;
use crate::reading::prompts::prompt::EarlierGist;
use crate::session_reading::passages::open_passage::OpenPassage;
use crate::session_reading::passages::passage_words::PassageWords;

/// Maximum number of earlier gists that the model is shown, whatever the settings say.
const EARLIER_MAX: usize = 20;
/// Number of hits of each search among which earlier gists are looked for (`HITS`), and maximum length of a query, in
/// bytes.
const HITS: usize = 60;
const SEARCHED_BYTES: usize = 4_000;
/// Maximum number of lines that are separate queries, and their minimum length in bytes.
const LINES_MAX: usize = 8;
const LINE_BYTES: usize = 24;

/// A gist and its position in a reading.
pub(crate) struct PlacedGist {
    pub(crate) place: GistRef,
    pub(crate) unit: Unit,
}

/// The earlier gists that the model is shown with a passage, with their positions.
pub(crate) struct EarlierGists {
    pub(crate) gists: Vec<PlacedGist>,
    pub(crate) shown: Vec<EarlierGist>,
}

impl EarlierGists {
    /// Finds at most `most` gists that are similar to a passage.
    pub(crate) async fn find_similar(
        backends: &Backends,
        open: &OpenPassage<'_>,
        most: usize,
    ) -> Result<EarlierGists, PortError> {
        let earlier = match most.min(EARLIER_MAX) {
            0 => Vec::new(),
            most => earlier_gists(backends, open, most).await?,
        };
        Ok(EarlierGists::from(earlier))
    }

    /// Returns the earlier gists that a reading was made with, or none if one of them is gone: the model referred to
    /// them by their numbers.
    pub(crate) async fn from_reading(
        backends: &Backends,
        space: &SpaceId,
        reading: &Reading,
    ) -> Result<Option<EarlierGists>, PortError> {
        let id = |it: &GistRef| UnitId::of_gist(ReadingId::of_passage(it.first), it.number);
        let wanted: Vec<UnitId> = reading.earlier.iter().map(id).collect();
        let units = backends.graph.units(space, &wanted).await?;
        let placed = reading.earlier.iter().zip(&wanted).map(|(place, id)| {
            let unit = units.iter().find(|it| it.id == *id && it.status == Status::Active)?;
            Some(PlacedGist {
                place: *place,
                unit: unit.clone(),
            })
        });
        Ok(placed.collect::<Option<Vec<PlacedGist>>>().map(EarlierGists::from))
    }
}

impl From<Vec<PlacedGist>> for EarlierGists {
    fn from(gists: Vec<PlacedGist>) -> EarlierGists {
        let shown = gists.iter().map(|it| EarlierGist {
            unit: it.unit.id,
            at: it.unit.observed_at,
            text: it.unit.text.clone(),
        });
        EarlierGists {
            shown: shown.collect(),
            gists,
        }
    }
}

/// Returns the earlier gists that are most similar to the passage or to one of its lines, the best of each in turn. A
/// gist that shares no telling word with the passage is left out. Returns none if there are none or the index has no
/// hits. A passage may have several topics, which one query for all of it misses.
async fn earlier_gists(backends: &Backends, open: &OpenPassage<'_>, most: usize) -> Result<Vec<PlacedGist>, PortError> {
    let queries = build_queries(&open.records);
    let vectors = backends.embedder.embed(&queries).await?;
    let mut rankings: Vec<Vec<UnitId>> = Vec::new();
    for (text, dense) in queries.iter().zip(vectors) {
        let search = Search {
            dense: Some(dense),
            words: Some(text::meaning::sparse_vectors::stem_vector(text)),
            limit: HITS,
            until: Some(open.records[0].observed_at.timestamp()),
            units: None,
            ..Search::default()
        };
        let found = backends.index.search(open.space, &search).await?;
        rankings.extend([found.dense, found.words].map(|hits| hits.iter().map(|it| it.unit).collect()));
    }
    let hits: BTreeSet<UnitId> = rankings.iter().flatten().copied().collect();
    let hits: Vec<UnitId> = hits.into_iter().collect();
    let own: BTreeSet<RecordId> = open.records.iter().map(|it| it.id).collect();
    let mut gists = backends.graph.units(open.space, &hits).await?;
    gists.retain(|it| it.grain == Grain::Gist && it.status == Status::Active);
    gists.retain(|it| !it.records.iter().any(|record| own.contains(record)));
    // Every search returns something, whether or not it has to do with the passage.
    let words = PassageWords::from_records(&open.records);
    gists.retain(|it| words.shares_word_with(&it.text));
    let mut gists: BTreeMap<UnitId, Unit> = gists.into_iter().map(|it| (it.id, it)).collect();
    for ranking in &mut rankings {
        ranking.retain(|it| gists.contains_key(it));
    }
    let mut placed = Vec::new();
    for hit in in_turns(&rankings) {
        if placed.len() == most {
            break;
        }
        let Some(unit) = gists.remove(&hit) else { continue };
        if let Some(place) = place_of(backends, open.space, &unit).await? {
            placed.push(PlacedGist { place, unit });
        }
    }
    Ok(placed)
}

/// Returns the texts to search for: the passage, and its longest lines.
fn build_queries(records: &[Record]) -> Vec<String> {
    let texts: Vec<&str> = records.iter().map(|it| it.text.as_str()).collect();
    let mut lines: Vec<&str> = texts.iter().copied().filter(|it| it.len() >= LINE_BYTES).collect();
    // Stable, so that lines of equal length keep their order.
    lines.sort_by_key(|it| Reverse(it.len()));
    lines.truncate(LINES_MAX);
    let joined_texts = texts.join("\n");
    let all = std::iter::once(joined_texts.as_str()).chain(lines);
    all.map(|it| it[..it.floor_char_boundary(SEARCHED_BYTES)].to_owned())
        .collect()
}

/// Returns the first of each ranking, then the second of each, and so on.
fn in_turns(rankings: &[Vec<UnitId>]) -> impl Iterator<Item = UnitId> {
    let longest = rankings.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|at| rankings.iter().filter_map(move |it| it.get(at).copied()))
}

/// Returns the position of a gist: its reading, and its number in it.
async fn place_of(backends: &Backends, space: &SpaceId, gist: &Unit) -> Result<Option<GistRef>, PortError> {
    let first: Vec<RecordId> = gist.records.iter().take(1).copied().collect();
    let readings = backends.readings.of_records(space, &first).await?;
    let numbers = |it: &Reading| (0..GISTS_MAX).find(|number| UnitId::of_gist(it.id, *number) == gist.id);
    Ok(readings.iter().filter(|it| it.kind.is_passage()).find_map(|it| {
        Some(GistRef {
            first: *it.records.first()?,
            number: numbers(it)?,
        })
    }))
}
