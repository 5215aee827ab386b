//! Measures weights on a data set: it makes the packs in this process and scores them like any other run.

use domain::evidence::{AnswerStyle, PackItem, RankedUnit, Sufficiency};
use domain::id::SpaceId;
use domain::message::{AnswerV1, RoutedV1};
use domain::port::{ModelAllowance, SearchResult};
use eval::data::DataSet;
use eval::run_file::{Item, Line};
use eval::score::summary::{ALL, Summary, summarise_rows};
use eval::score::{Labels, Row, score_run};
use reader::Reader;
use router::route;
use router::route::scoring::edges::Related;
use router::route::scoring::heads::Weights;

use crate::world::{World, build_request};

/// Budgets that are measured, in tokens.
const BUDGETS: [u32; 3] = [256, 512, 1024];
/// Budget whose pack the reader answers from.
const ANSWERED: u32 = 512;
/// Number of units in the ranking.
const RANKED: u32 = 60;
/// Number of scenes that the reader gets; the gateway requests as many.
const SCENES: u32 = 24;

/// Returns the score of every question of `data`, with `weights` in the router and the answers of `reader`. `worlds`
/// are the worlds of `data`.
///
/// # Errors
/// If the worlds do not belong to the data.
pub fn measure_questions(
    data: &DataSet,
    worlds: &[World],
    weights: &Weights,
    reader: &Reader,
) -> anyhow::Result<Vec<Row>> {
    let mut lines = Vec::new();
    for world in worlds {
        for question in &world.questions {
            lines.push(measure_question(
                world,
                &question.id,
                &question.question,
                weights,
                reader,
            )?);
        }
    }
    score_run(data, &lines, Labels::Clean)
}

/// Name of the mean score of the answers to answerable questions.
pub const ANSWERED_WELL: &str = "answer_F1";

/// Returns the means of rows; the row for all questions also has [`ANSWERED_WELL`].
pub fn mean_metrics(rows: &[Row]) -> Summary {
    let mut summary = summarise_rows(rows);
    let fine: Vec<f64> = rows
        .iter()
        .filter(|it| it.answerable)
        .filter_map(|it| it.metrics.get("answer").copied())
        .collect();
    let mean = fine.iter().sum::<f64>() / fine.len().max(1) as f64;
    summary
        .table
        .entry(ALL.to_owned())
        .or_default()
        .insert(ANSWERED_WELL.to_owned(), mean);
    summary
}

fn measure_question(
    world: &World,
    id: &str,
    question: &str,
    weights: &Weights,
    reader: &Reader,
) -> anyhow::Result<Line> {
    let mut line = Line {
        question_id: id.to_owned(),
        ..Line::default()
    };
    for budget in BUDGETS {
        let mut request = build_request(question, budget)?;
        (request.ranked, request.scenes) = (RANKED, SCENES);
        let view = &world.view;
        let query = world.query(question, &request);
        let found = SearchResult::default();
        let mut routed = route::route_turns(view, &query, &found, &Related::new(), &request, weights);
        line.packs
            .insert(budget, routed.pack.items.iter().map(to_item).collect());
        line.ranked = std::mem::take(&mut routed.ranked)
            .into_iter()
            .map(ranked_to_item)
            .collect();
        if budget == ANSWERED {
            let answered = reader.answer_request(&reader_request(request.space, question, routed));
            line.abstained = Some(answered.verdict.status == Sufficiency::Insufficient);
            line.answer = Some(answered.answer.map(|it| it.text).unwrap_or_default());
        }
    }
    Ok(line)
}

/// Returns the request that the gateway would send to the reader for a routed question.
fn reader_request(space: SpaceId, question: &str, routed: RoutedV1) -> AnswerV1 {
    AnswerV1 {
        space,
        question: question.to_owned(),
        anchors: routed.anchors,
        reading: routed.reading,
        speakers: routed.speakers,
        words: routed.words,
        pack: routed.pack,
        scenes: routed.scenes,
        style: AnswerStyle::default(),
        allow: ModelAllowance::default(),
    }
}

fn to_item(item: &PackItem) -> Item {
    Item {
        turn_ids: item.external_ids.clone(),
        text: item.text.clone(),
    }
}

fn ranked_to_item(unit: RankedUnit) -> Item {
    Item {
        turn_ids: unit.external_ids,
        text: unit.text,
    }
}
