//! Builds the router's view of conversations, and makes training examples of their questions.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, ensure};
use chrono::{DateTime, FixedOffset, NaiveDateTime};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::RouteV1;
use domain::port::{Hit, SearchResult};
use domain::record::{Modality, Record};
use domain::unit::Unit;
use eval::data::{Conversation, DataSet, Question, Turn};
use router::route;
use router::route::propose::{Candidates, Gate, propose_candidates};
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::feature_slots::Values;
use router::route::scoring::heads::Weights;
use router::route::similarity::encoder_similarity::Encoded;
use router::space::view::View;

/// A conversation, written by the writer's rules and read by the router.
#[derive(Clone)]
pub struct World {
    /// Id of the conversation.
    pub name: String,
    /// Setting of the conversation. It determines the weight of the examples, and a validation leaves out one setting
    /// at a time.
    pub setting: String,
    /// The router's view of the conversation.
    pub view: View,
    /// The units in the view.
    pub units: HashMap<UnitId, Unit>,
    /// Place in the view, by the id of the turn.
    pub places: HashMap<String, usize>,
    /// Questions about the conversation.
    pub questions: Vec<Question>,
    /// Hits of the index with the vectors of a sentence encoder, by the text of the question; empty without an
    /// encoder.
    pub hits: HashMap<String, Vec<Hit>>,
}

/// A training example: one question with all its candidates.
pub struct Example {
    /// Index of the world in the list of worlds.
    pub world: usize,
    /// Index of the question in its world.
    pub question: usize,
    /// Features of each candidate, in the order of the view.
    pub rows: Vec<Values>,
    /// Place of each candidate in the view.
    pub places: Vec<usize>,
    /// Share of the evidence that each candidate holds; the shares sum to 1.
    pub gold: Vec<f64>,
    /// Index of the candidate that the question starts from, if the question names it.
    pub anchor: Option<usize>,
}

impl World {
    /// Returns the question as the router reads it after the index was searched.
    pub fn query(&self, question: &str, request: &RouteV1) -> Query {
        let mut query = Query::from_question(question, &self.view, route::question_moment(&self.view, request));
        query.encoded = Encoded::from_hits(&self.view, self.hits.get(question).map_or(&[], Vec::as_slice));
        query
    }
}

/// Returns one world for every conversation of a data set.
///
/// # Errors
/// If a timestamp cannot be read, or if a question cites an unknown turn or an unknown conversation.
pub fn build_worlds(data: DataSet) -> anyhow::Result<Vec<World>> {
    let mut questions: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for question in data.questions {
        questions
            .entry(question.conversation_id.clone())
            .or_default()
            .push(question);
    }
    let mut worlds = Vec::new();
    for conversation in &data.conversations {
        let own = questions.remove(&conversation.conversation_id).unwrap_or_default();
        worlds.push(build_world(conversation, own)?);
    }
    let unknown = questions.keys().next();
    ensure!(unknown.is_none(), "questions about an unknown conversation {unknown:?}");
    Ok(worlds)
}

fn build_world(conversation: &Conversation, questions: Vec<Question>) -> anyhow::Result<World> {
    let name = conversation.conversation_id.clone();
    let sessions = records_by_session(conversation)?;
    let units: HashMap<UnitId, Unit> = sessions
        .iter()
        .flat_map(|it| write_units(it))
        .map(|it| (it.id, it))
        .collect();
    let view = View::from_units(units.values().cloned());
    let ids = view.turns().iter().zip(0..);
    let places: HashMap<String, usize> = ids
        .flat_map(|(turn, place)| turn.unit.external_ids().into_iter().map(move |id| (id, place)))
        .collect();
    for question in &questions {
        let cited = question
            .evidence
            .iter()
            .chain(question.evidence_groups.iter().flatten())
            .chain(&question.anchor);
        for id in cited {
            ensure!(
                places.contains_key(id),
                "question {} cites {id}, which {name} has not",
                question.id
            );
        }
    }
    Ok(World {
        setting: conversation.split.clone().unwrap_or_else(|| name.clone()),
        name,
        view,
        units,
        places,
        questions,
        hits: HashMap::new(),
    })
}

/// Returns the records of a conversation grouped by session, each session in the order of its records.
pub(crate) fn records_by_session(conversation: &Conversation) -> anyhow::Result<Vec<Vec<Record>>> {
    let name = &conversation.conversation_id;
    let space: SpaceId = SPACE.parse().context("the name of the space")?;
    let mut sessions: Vec<Vec<Record>> = Vec::new();
    for (ordinal, turn) in conversation.turns.iter().enumerate() {
        let record =
            build_record(&space, turn, ordinal as u64).with_context(|| format!("turn {} of {name}", turn.id))?;
        match sessions.iter_mut().find(|it| it[0].session == record.session) {
            Some(session) => session.push(record),
            None => sessions.push(vec![record]),
        }
    }
    sessions
        .iter_mut()
        .for_each(|it| it.sort_by_key(Record::session_order_key));
    Ok(sessions)
}

/// Returns the turns of a session as the writer writes them.
pub(crate) fn write_units(session: &[Record]) -> Vec<Unit> {
    writer::write_turn_units(session, &(0..session.len()).collect::<Vec<_>>())
}

/// Name of the space of every conversation. It affects only ids, which break ties.
const SPACE: &str = "train";

fn build_record(space: &SpaceId, turn: &Turn, ordinal: u64) -> anyhow::Result<Record> {
    let caption = turn.image_caption.clone().filter(|it| !it.trim().is_empty());
    Ok(Record {
        id: RecordId::from_external_id(space, &turn.id),
        space: space.clone(),
        external_id: turn.id.clone(),
        session: SessionId::from_name(space, &turn.session),
        session_name: turn.session.clone(),
        ordinal,
        modality: if caption.is_some() {
            Modality::Visual
        } else {
            Modality::Text
        },
        actor: turn.speaker.clone(),
        text: turn.text.clone(),
        image_caption: caption,
        image_uri: None,
        version: None,
        tool: None,
        observed_at: parse_moment(&turn.timestamp)?,
        tags: Vec::new(),
        metadata: BTreeMap::new(),
    })
}

fn parse_moment(text: &str) -> anyhow::Result<DateTime<FixedOffset>> {
    if let Ok(it) = DateTime::parse_from_rfc3339(text) {
        return Ok(it);
    }
    let naive: NaiveDateTime = text.parse().with_context(|| format!("{text} is no time"))?;
    Ok(naive.and_utc().fixed_offset())
}

/// Returns the request that the router gets for a question.
///
/// # Errors
/// Never, because the name of the space is fixed.
pub fn build_request(question: &str, tokens: u32) -> anyhow::Result<RouteV1> {
    let space = SPACE.parse().context("the name of the space")?;
    Ok(RouteV1::new(space, question.to_owned(), tokens))
}

/// Returns the question as the router reads it, and its candidates before scoring.
///
/// # Errors
/// Those of [`build_request`].
pub fn find_candidates(world: &World, question: &str) -> anyhow::Result<(Query, Candidates)> {
    let request = build_request(question, 512)?;
    let query = world.query(question, &request);
    let found = SearchResult::default();
    let candidates = propose_candidates(
        &world.view,
        &query,
        &Gate::from_request(&request),
        &found,
        &Related::new(),
    );
    Ok((query, candidates))
}

/// Returns an example for every answerable question of the worlds that has evidence among its candidates. Features
/// that need scores use those of `weights`.
///
/// # Errors
/// Those of [`build_request`].
pub fn build_examples(worlds: &[World], weights: &Weights) -> anyhow::Result<Vec<Example>> {
    let mut examples = Vec::new();
    for (at, world) in worlds.iter().enumerate() {
        for (number, question) in world.questions.iter().enumerate().filter(|it| it.1.answerable) {
            let gold = gold_turns(world, question);
            if gold.is_empty() {
                continue;
            }
            let (query, candidates) = find_candidates(world, &question.question)?;
            let mut scored = route::score_candidates(&world.view, &query, &candidates, &Related::new(), weights);
            scored.sort_by_key(|it| it.place);
            let share: Vec<f64> = scored
                .iter()
                .map(|it| gold.get(&it.place).copied().unwrap_or_default())
                .collect();
            let anchor = question.anchor.as_ref().and_then(|it| world.places.get(it));
            let anchor = anchor.and_then(|it| scored.iter().position(|row| row.place == *it));
            if share.iter().sum::<f64>() > 0.0 {
                examples.push(Example {
                    world: at,
                    question: number,
                    places: scored.iter().map(|it| it.place).collect(),
                    rows: scored.into_iter().map(|it| it.values).collect(),
                    gold: share,
                    anchor,
                });
            }
        }
    }
    Ok(examples)
}

/// Returns the share of the evidence by place. All groups have the same weight, and the turns of a group share its
/// weight.
fn gold_turns(world: &World, question: &Question) -> BTreeMap<usize, f64> {
    let groups = gold_groups(question);
    let mut shares = BTreeMap::new();
    for group in &groups {
        for place in group.iter().filter_map(|it| world.places.get(it)) {
            *shares.entry(*place).or_insert(0.0) += 1.0 / (groups.len() * group.len()) as f64;
        }
    }
    shares
}

/// Returns groups of turns; a question needs one turn of each group.
pub fn gold_groups(question: &Question) -> Vec<Vec<String>> {
    if question.evidence_groups.is_empty() {
        question.evidence.iter().map(|it| vec![it.clone()]).collect()
    } else {
        question.evidence_groups.clone()
    }
}
