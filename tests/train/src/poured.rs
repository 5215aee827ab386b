//! Merges many conversations into one space. Such a space has more turns than the router scores as a whole, so its
//! channels decide which turns are scored.

use std::collections::{BTreeMap, BTreeSet};

use domain::evidence::Channel;
use domain::port::{Hit, SearchResult};
use domain::relation::RelationKind;
use eval::data::{Conversation, DataSet};
use router::route;
use router::route::pack::pack_turns;
use router::route::propose::{Candidates, Gate, propose_candidates};
use router::route::query::Query;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;
use router::route::scoring::matches::{Matches, Row};
use writer::{Stretch, derive_segments, plan_segments};

use crate::validate::{BUDGET, Finding};
use crate::world::{World, build_request, build_worlds, gold_groups, records_by_session, write_units};

const CHANNELS: [Channel; 8] = [
    Channel::Semantic,
    Channel::Lexical,
    Channel::Anchor,
    Channel::Temporal,
    Channel::Entity,
    Channel::Visual,
    Channel::Causal,
    Channel::Continuity,
];

/// Returns the data set with its conversations merged into `spaces` larger ones, one after the other. The name of the
/// original conversation is put before the ids of its turns and sessions.
pub fn pour_into_spaces(data: DataSet, spaces: usize) -> DataSet {
    let mut all: Vec<Conversation> = (0..spaces.max(1))
        .map(|it| Conversation {
            conversation_id: format!("poured-{it}"),
            split: None,
            speakers: Vec::new(),
            turns: Vec::new(),
        })
        .collect();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (at, conversation) in data.conversations.into_iter().enumerate() {
        let name = conversation.conversation_id;
        let space = at % all.len();
        all[space].turns.extend(conversation.turns.into_iter().map(|mut turn| {
            turn.id = format!("{name}/{}", turn.id);
            turn.session = format!("{name}/{}", turn.session);
            turn
        }));
        places.insert(name, space);
    }
    let questions = data.questions.into_iter().map(|mut question| {
        let space = places.get(&question.conversation_id).copied().unwrap_or_default();
        let name = std::mem::replace(&mut question.conversation_id, all[space].conversation_id.clone());
        let ids = question.evidence.iter_mut();
        ids.chain(question.evidence_groups.iter_mut().flatten())
            .for_each(|it| *it = format!("{name}/{it}"));
        question
    });
    DataSet {
        questions: questions.collect(),
        conversations: all,
    }
}

/// Leaves out each channel in turn, and with it the candidates that only this channel proposes, in one space that
/// contains all conversations of `data`.
///
/// # Errors
/// Those of [`build_worlds`].
pub fn measure_channels(data: DataSet, weights: &Weights) -> anyhow::Result<Vec<Finding>> {
    let data = pour_into_spaces(data, 1);
    let related = build_related(&data.conversations[0])?;
    let world = &build_worlds(data)?[0];
    let view = &world.view;
    let mut sums = [[0.0; 2]; CHANNELS.len() + 1];
    let mut count = 0;
    for question in world.questions.iter().filter(|it| it.answerable) {
        let groups: Vec<Vec<usize>> = gold_groups(question)
            .iter()
            .map(|it| it.iter().filter_map(|id| world.places.get(id).copied()).collect())
            .collect();
        if groups.is_empty() {
            continue;
        }
        count += 1;
        let request = build_request(&question.question, BUDGET)?;
        let query = Query::from_question(&question.question, view, route::question_moment(view, &request));
        let found = search_world(world, &query);
        let all = propose_candidates(view, &query, &Gate::from_request(&request), &found, &related);
        for (sums, left) in sums.iter_mut().zip(CHANNELS.map(Some).into_iter().chain([None])) {
            let mut candidates: Candidates = all.clone();
            candidates.retain(|_, by| by.iter().any(|it| Some(*it) != left));
            let scored = route::score_candidates(view, &query, &candidates, &related, weights);
            let packed = pack_turns(view, &query, &scored, &request).pack;
            let places: BTreeSet<usize> = packed
                .items
                .iter()
                .filter_map(|it| view.position_of_unit(it.unit))
                .collect();
            sums[0] += share_of_groups(&groups, |it| places.contains(it));
            sums[1] += share_of_groups(&groups, |it| candidates.contains_key(it));
        }
    }
    let mean = |it: f64| it / count.max(1) as f64;
    let whole = sums[CHANNELS.len()];
    let mut findings = Vec::new();
    for (channel, own) in CHANNELS.iter().zip(sums) {
        for (at, what) in ["packed", "proposed"].into_iter().enumerate() {
            findings.push(Finding {
                what: format!("without {channel:?}, {what}"),
                questions: count,
                packed: mean(own[at]),
                whole: mean(whole[at]),
            });
        }
    }
    Ok(findings)
}

fn share_of_groups(groups: &[Vec<usize>], held: impl Fn(&usize) -> bool) -> f64 {
    groups.iter().filter(|it| it.iter().any(&held)).count() as f64 / groups.len() as f64
}

/// Returns the hits of an exact index for a question.
fn search_world(world: &World, query: &Query) -> SearchResult {
    let turns = world.view.turns();
    let limit = router::Config::default().hits;
    let matches = Matches::match_turns(&world.view, query, (0..turns.len()).collect());
    let best = |score: fn(&Row) -> f32| {
        let mut hits: Vec<(f32, usize)> = matches
            .rows
            .iter()
            .map(score)
            .zip(0..)
            .filter(|it| it.0 > 0.0)
            .collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let hit = |(score, place): (f32, usize)| Hit {
            unit: turns[place].unit.id,
            part: 0,
            score,
        };
        hits.into_iter().take(limit).map(hit).collect()
    };
    SearchResult {
        words: best(|it| it.bm25),
        pieces: best(|it| it.late),
        dense: best(|it| it.dense),
    }
}

/// Returns the relations that the writer's rules find between the turns of a conversation.
fn build_related(conversation: &Conversation) -> anyhow::Result<Related> {
    let mut related = Related::new();
    for records in records_by_session(conversation)? {
        let fresh = records.iter().map(|it| it.id).collect();
        let stored = write_units(&records).into_iter().map(|it| (it.id, it)).collect();
        let stretch = Stretch {
            records,
            starts: true,
            ends: true,
        };
        let relations = derive_segments(&stretch, &plan_segments(&stretch, &fresh), &stored).relations;
        let between = relations.into_iter().filter(|it| it.kind != RelationKind::PartOf);
        related.extend(between.map(|it| (it.source, it.target)));
    }
    Ok(related)
}
