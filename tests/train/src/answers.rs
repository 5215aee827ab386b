//! Fits the weights with which the reader chooses a short answer: the order of turns, and the candidates in them.
//! Each fit is a softmax over the candidates of a question. The target of a candidate is its score against the gold
//! answer.

use std::collections::BTreeMap;

use anyhow::Context;
use domain::message::AnswerV1;
use eval::data::Question;
use eval::run_file::Line;
use eval::score::answer::score_answer;
use reader::answer::choices::{Choice, answer_choices, feature_names, turn_choice};
use reader::weights::{File, VERSION, Weights};
use reader::{Config, Reader};
use router::route::scoring::heads::Weights as Heads;

use crate::fit::{self, Case};
use crate::refusal;
use crate::world::World;

/// Minimum score of the best candidate. A question whose best candidate scores less is not used for the fit.
const TAUGHT: f64 = 0.4;
/// Factor for the fitted weights of the candidates. Fitted logits are too flat for votes: a candidate that contains
/// the answer and more text gets the votes of all its parts.
const SHARPER: f32 = 2.0;
/// Share of the best score from which a candidate is part of the target.
const SHARE: f64 = 0.75;

/// An answerable question with the request that the reader gets for it.
pub struct AskedQuestion<'a> {
    conversation: usize,
    question: &'a Question,
    evidence: Vec<&'a str>,
    request: AnswerV1,
}

/// Returns every answerable question of the worlds that has a short answer, routed.
///
/// # Errors
/// If the router fails.
pub fn ask_questions<'a>(worlds: &'a [World], heads: &Heads) -> anyhow::Result<Vec<AskedQuestion<'a>>> {
    let mut out = Vec::new();
    for (conversation, world) in worlds.iter().enumerate() {
        let all = world
            .questions
            .iter()
            .filter(|it| it.answerable && !it.answer.is_empty());
        for question in all.filter(|it| !matches!(it.category.as_str(), "message" | "instruction")) {
            let groups = question.evidence_groups.iter().flatten();
            out.push(AskedQuestion {
                conversation,
                question,
                evidence: question.evidence.iter().chain(groups).map(String::as_str).collect(),
                request: refusal::ask_reader(world, &question.question, heads)?,
            });
        }
    }
    Ok(out)
}

/// The training cases of both fits, each with the index of its question.
pub struct Lessons {
    turns: Vec<(usize, Case)>,
    spans: Vec<(usize, Case)>,
}

/// Returns the training cases of the questions. The order of turns is fitted first, because it decides which
/// candidates there are.
///
/// # Errors
/// If the optimiser fails.
pub fn build_lessons(asked: &[AskedQuestion<'_>], l2: f64) -> anyhow::Result<Lessons> {
    let mut lessons = Lessons {
        turns: Vec::new(),
        spans: Vec::new(),
    };
    for (at, it) in asked.iter().enumerate() {
        let case = case_of_turns(it, turn_choice(&it.request));
        lessons.turns.extend(case.map(|case| (at, case)));
    }
    let file = File {
        turns: fit_head(&mut lessons.turns, &feature_names()[0], l2, &|_| true)?,
        features: VERSION.to_owned(),
        heat: 1.0,
        ..File::default()
    };
    let ordered = Weights::from_file(&file).context("the features of turns do not fit")?;
    for (at, it) in asked.iter().enumerate() {
        let found = answer_choices(&it.request, &ordered);
        lessons
            .spans
            .extend(case_of_texts(it, found.spans).map(|case| (at, case)));
    }
    Ok(lessons)
}

/// Returns weights for turns and candidates, fitted to the lessons of the questions that `of` selects. They are half
/// fitted and half `prior`, because users phrase questions in other ways than the corpus and give longer answers. The
/// weights of times are those of `prior`.
///
/// # Errors
/// If the optimiser fails.
pub fn fit_heads(lessons: &mut Lessons, prior: &File, l2: f64, of: &dyn Fn(usize) -> bool) -> anyhow::Result<File> {
    let [turns, spans, _] = feature_names();
    let turns = fit_head(&mut lessons.turns, &turns, l2, of)?;
    let spans = fit_head(&mut lessons.spans, &spans, l2, of)?;
    Ok(File {
        features: VERSION.to_owned(),
        heat: prior.heat,
        turns: mix_weights(&prior.turns, &turns, 0.5),
        spans: mix_weights(&prior.spans, &spans, SHARPER * 0.5),
        times: prior.times.clone(),
        ..File::default()
    })
}

/// Returns half of the prior plus `share` times the fitted weights, rounded to three decimals.
fn mix_weights(prior: &BTreeMap<String, f32>, fitted: &BTreeMap<String, f32>, share: f32) -> BTreeMap<String, f32> {
    let value = |of: &BTreeMap<String, f32>, name: &str| of.get(name).copied().unwrap_or_default();
    let both = |name: &String| (0.5 * value(prior, name) + share * value(fitted, name)) * 1e3;
    let names = prior.keys().chain(fitted.keys());
    names.map(|it| (it.clone(), both(it).round() / 1e3)).collect()
}

/// Fits one head. A question that `of` does not select gets the weight 0.
fn fit_head(
    lessons: &mut Vec<(usize, Case)>,
    names: &[&str],
    l2: f64,
    of: &dyn Fn(usize) -> bool,
) -> anyhow::Result<BTreeMap<String, f32>> {
    let (questions, mut cases): (Vec<usize>, Vec<Case>) = std::mem::take(lessons).into_iter().unzip();
    for (at, case) in questions.iter().zip(&mut cases) {
        case.weight = if of(*at) { 1.0 } else { 0.0 };
    }
    let weights = fit::fit_weights(&cases, l2)?;
    *lessons = questions.into_iter().zip(cases).collect();
    let round = |it: &f64| ((it * 1e3).round() / 1e3) as f32;
    let named = names
        .iter()
        .zip(&weights)
        .map(|(name, it)| ((*name).to_owned(), round(it)));
    Ok(named.filter(|it| it.1 != 0.0).collect())
}

/// Returns the case of the turns. The turns that contain evidence share the target equally.
fn case_of_turns(asked: &AskedQuestion<'_>, turns: Choice) -> Option<Case> {
    let holds = |ids: &Vec<String>| ids.iter().any(|id| asked.evidence.contains(&id.as_str()));
    let gold: Vec<f64> = turns.items.iter().map(|it| f64::from(u8::from(holds(it)))).collect();
    build_case(turns.rows, gold)
}

/// Returns the case of the candidates. All candidates that are nearly as good as the best one share the target, in
/// proportion to the square of their score. Returns `None` if the best score is below [`TAUGHT`].
fn case_of_texts(asked: &AskedQuestion<'_>, found: Choice) -> Option<Case> {
    let worth = |it: &Vec<String>| it.first().map_or(0.0, |text| score_text(asked.question, text));
    let worths: Vec<f64> = found.items.iter().map(worth).collect();
    let best = worths.iter().copied().fold(0.0, f64::max);
    let least = SHARE * best;
    let gold = worths.into_iter().map(|it| if it >= least { it * it } else { 0.0 });
    if best < TAUGHT {
        return None;
    }
    build_case(found.rows, gold.collect())
}

fn build_case(rows: Vec<Vec<f32>>, mut gold: Vec<f64>) -> Option<Case> {
    let sum: f64 = gold.iter().sum();
    gold.iter_mut().for_each(|it| *it /= sum);
    (sum > 0.0 && rows.len() > 1).then_some(Case {
        rows,
        gold,
        weight: 1.0,
    })
}

fn score_text(question: &Question, text: &str) -> f64 {
    let line = Line {
        answer: Some(text.to_owned()),
        ..Line::default()
    };
    score_answer(question, &question.answer, &line)
}

/// Reports the score of the answers by category, with each conversation answered by weights that were fitted without
/// it, next to the score of the shipped weights.
///
/// # Errors
/// If the optimiser fails.
pub fn left_out(
    asked: &[AskedQuestion<'_>],
    lessons: &mut Lessons,
    prior: &File,
    l2: f64,
    folds: usize,
) -> anyhow::Result<Vec<String>> {
    let mut sums: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    let shipped = Reader::new(&Config::default())?;
    for fold in 0..folds {
        let here = |at: usize| asked[at].conversation % folds == fold;
        let fitted = fit_heads(lessons, prior, l2, &|at| !here(at))?;
        let fitted = shipped.clone().with_answers(Weights::from_file(&fitted)?);
        for it in (0..asked.len()).filter(|it| here(*it)).map(|it| &asked[it]) {
            let worth = |reader: &Reader| {
                let answer = reader.assess_request(&it.request).answered.answer;
                answer.map_or(0.0, |found| score_text(it.question, &found.text))
            };
            let (new, old) = (worth(&fitted), worth(&shipped));
            for name in ["all", it.question.category.as_str()] {
                let sum = sums.entry(name).or_default();
                [new, old, 1.0].iter().zip(sum).for_each(|(it, sum)| *sum += it);
            }
        }
    }
    let line = |(name, [new, old, count]): (&str, [f64; 3])| {
        let (new, old) = (100.0 * new / count, 100.0 * old / count);
        format!("{name:16} {count:5} questions  left out {new:5.1}  shipped {old:5.1}")
    };
    Ok(sums.into_iter().map(line).collect())
}
