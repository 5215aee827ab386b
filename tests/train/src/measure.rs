//! What weights are worth on a data set: packs made in this process, scored like any run.

use std::collections::BTreeMap;

use domain::evidence::PackItem;
use domain::port::SearchResult;
use eval::data::DataSet;
use eval::run_file::{Item, Line};
use eval::score::summary::{Summary, summarise};
use eval::score::{Labels, Row, score};
use router::edges::Related;
use router::heads::Weights;
use router::query::Query;
use router::route;

use crate::world::{World, request};

/// Budgets that are measured.
const BUDGETS: [u32; 3] = [256, 512, 1024];
/// Units in the ranking.
const RANKED: u32 = 60;

/// Scores every question of `data`, whose worlds are given.
///
/// # Errors
/// If the worlds are not those of the data.
pub fn rows(data: &DataSet, worlds: &[World], weights: &Weights) -> anyhow::Result<Vec<Row>> {
    let mut lines = Vec::new();
    for world in worlds {
        for question in &world.questions {
            lines.push(line(world, (&question.id, &question.question), weights)?);
        }
    }
    score(data, &lines, Labels::Clean)
}

/// Returns the means of [`rows`].
///
/// # Errors
/// As [`rows`].
pub fn measure(data: &DataSet, worlds: &[World], weights: &Weights) -> anyhow::Result<Summary> {
    Ok(summarise(&rows(data, worlds, weights)?))
}

fn line(world: &World, (id, question): (&str, &str), weights: &Weights) -> anyhow::Result<Line> {
    let mut packs = BTreeMap::new();
    let mut ranked = Vec::new();
    for budget in BUDGETS {
        let mut request = request(question, budget)?;
        request.ranked = RANKED;
        let view = &world.view;
        let query = Query::read(question, view, route::now(view, &request));
        let found = SearchResult::default();
        let routed = route::route(view, &query, &found, &Related::new(), &request, weights);
        packs.insert(budget, routed.pack.items.into_iter().map(shown).collect());
        let item = |it: domain::evidence::RankedUnit| Item {
            turn_ids: it.external_ids,
            text: it.text,
        };
        ranked = routed.ranked.into_iter().map(item).collect();
    }
    Ok(Line {
        question_id: id.to_owned(),
        ranked,
        packs,
        ..Line::default()
    })
}

fn shown(item: PackItem) -> Item {
    Item {
        turn_ids: item.external_ids,
        text: item.text,
    }
}
