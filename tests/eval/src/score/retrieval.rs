//! Scores of evidence. Scores by rank trust the turns that an item cites. Scores under a token budget count only turns
//! whose content the shown text really carries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::words::{Content, content_of_text};
use crate::data::{Question, Turn};
use crate::run_file::{Item, Line};

/// Ranks at which recall is taken.
const RANKS: [usize; 5] = [1, 3, 5, 10, 20];

/// Number of ranks that count for the gain.
const GAIN_RANKS: usize = 10;

/// Token budgets at which packs are scored.
pub const BUDGETS: [u32; 4] = [256, 512, 1024, 2048];

/// A pack is full when fewer tokens than this remain.
const LEAST_ROOM: usize = 8;

/// Share of the content words of a turn that a text must contain to carry the turn.
const CARRIED_SHARE: f64 = 0.6;

/// Number of content words of a turn, in addition to those of the answer, that a text must contain to carry the turn.
const CARRIED_CONTEXT: usize = 4;

/// Groups of turns; evidence is complete when one turn of each is found.
pub type Groups<'a> = Vec<BTreeSet<&'a str>>;

/// Metrics by name.
pub type Metrics = BTreeMap<String, f64>;

/// Counts the tokens of a text; counts are cached.
pub type Count<'a> = &'a mut dyn FnMut(&str) -> usize;

/// Gold labels against which a pack is scored.
pub struct Gold<'a> {
    /// The question.
    pub question: &'a Question,
    /// The gold answer that is used.
    pub answer: &'a str,
    /// The gold evidence that is used.
    pub groups: &'a Groups<'a>,
    /// The turns of the conversation, by id.
    pub turns: &'a HashMap<&'a str, &'a Turn>,
}

/// Adds recall at ranks, mean reciprocal rank, and normalised discounted gain of a ranking.
///
/// The gain of an item is the number of groups that no earlier item covers. The ideal ranking covers one group with
/// each item.
pub fn by_rank(groups: &Groups<'_>, ranked: &[Item], metrics: &mut Metrics) {
    let wanted = groups.len() as f64;
    let mut seen = BTreeSet::new();
    let mut recall_at = Vec::new();
    let (mut gain, mut first) = (0.0, None);
    for (index, item) in ranked.iter().enumerate() {
        let hits = covered_groups(groups, item);
        if !hits.is_empty() {
            first.get_or_insert(index);
        }
        let before = seen.len();
        seen.extend(hits);
        if index < GAIN_RANKS {
            gain += (seen.len() - before) as f64 / (index as f64 + 2.0).log2();
        }
        recall_at.push(seen.len() as f64 / wanted);
    }
    for rank in RANKS {
        let recall = recall_at
            .get(rank.min(recall_at.len()).wrapping_sub(1))
            .copied()
            .unwrap_or_default();
        metrics.insert(format!("R@{rank}"), recall);
    }
    let ideal: f64 = (0..groups.len().min(GAIN_RANKS))
        .map(|index| 1.0 / (index as f64 + 2.0).log2())
        .sum();
    metrics.insert("MRR".into(), first.map_or(0.0, |index| 1.0 / (index as f64 + 1.0)));
    metrics.insert("nDCG@10".into(), (gain / ideal).min(1.0));
}

/// Adds the metrics of the pack at every budget.
///
/// - `E`: share of the groups whose content is shown.
/// - `all`: 1 if the content of all groups is shown.
/// - `claimE`: share of the groups by the cited ids alone.
/// - `prec`: share of the tokens in items that cite gold turns.
/// - `used`: number of tokens.
/// - `ans`: share of the answer's content words that are shown.
/// - `nugget`: share of the rubric's statements with at least 60 % of their words shown.
pub fn by_budget(gold: &Gold<'_>, line: &Line, count: Count<'_>, metrics: &mut Metrics) {
    let wanted = gold.groups.len() as f64;
    for budget in BUDGETS {
        let (items, used) = fill_pack(line, budget, count);
        let (mut claimed, mut verified) = (BTreeSet::new(), BTreeSet::new());
        let (mut shown, mut spent_well) = (Content::new(), 0);
        for (item, tokens) in &items {
            let hits = covered_groups(gold.groups, item);
            spent_well += if hits.is_empty() { 0 } else { *tokens };
            let words = content_of_text(&item.text);
            verified.extend(
                hits.iter()
                    .copied()
                    .filter(|group| carries_one(gold, &gold.groups[*group], item, &words)),
            );
            claimed.extend(hits);
            shown.extend(words);
        }
        let mut add = |name: &str, value: f64| metrics.insert(format!("{name}@{budget}"), value);
        add("E", verified.len() as f64 / wanted);
        add("all", f64::from(verified.len() == gold.groups.len()));
        add("claimE", claimed.len() as f64 / wanted);
        add(
            "prec",
            if used == 0 {
                0.0
            } else {
                spent_well as f64 / used as f64
            },
        );
        add("used", used as f64);
        let answer = content_of_text(gold.answer);
        if !answer.is_empty() {
            add("ans", share_of_words(&answer, &shown));
        }
        let statements: Vec<Content> = gold
            .question
            .rubric
            .iter()
            .map(|it| content_of_text(it))
            .filter(|it| !it.is_empty())
            .collect();
        if !statements.is_empty() {
            let stated = statements
                .iter()
                .filter(|it| share_of_words(it, &shown) >= CARRIED_SHARE)
                .count();
            add("nugget", stated as f64 / statements.len() as f64);
        }
    }
}

/// Returns the items that fit the budget with their tokens, and the sum of the tokens. A pack from the system ends at
/// the first item that does not fit. A ranking is filled first fit.
fn fill_pack<'a>(line: &'a Line, budget: u32, count: Count<'_>) -> (Vec<(&'a Item, usize)>, usize) {
    let budget = budget as usize;
    let own = line.packs.get(&(budget as u32));
    let (mut items, mut used) = (Vec::new(), 0);
    for item in own.unwrap_or(&line.ranked) {
        let tokens = count(&item.text) + 1;
        if used + tokens <= budget {
            items.push((item, tokens));
            used += tokens;
        } else if own.is_some() || budget - used < LEAST_ROOM {
            break;
        }
    }
    (items, used)
}

/// Returns the indices of the groups of which an item cites a turn.
fn covered_groups(groups: &Groups<'_>, item: &Item) -> BTreeSet<usize> {
    let cites = |group: &BTreeSet<&str>| item.turn_ids.iter().any(|id| group.contains(id.as_str()));
    groups
        .iter()
        .enumerate()
        .filter(|(_, group)| cites(group))
        .map(|(index, _)| index)
        .collect()
}

fn carries_one(gold: &Gold<'_>, group: &BTreeSet<&str>, item: &Item, words: &Content) -> bool {
    let cited = item.turn_ids.iter().filter(|id| group.contains(id.as_str()));
    cited
        .filter_map(|id| gold.turns.get(id.as_str()))
        .any(|turn| carries_answer(words, turn, gold.answer))
}

/// Returns true if a text with these content words carries a turn. It must contain 60 % of the turn's words, or all
/// words of the answer that occur in the turn and four other words of the turn. A turn without content words is
/// carried by any text.
fn carries_answer(words: &Content, turn: &Turn, answer: &str) -> bool {
    let turn = content_of_text(&turn.whole());
    let held: Content = turn.intersection(words).cloned().collect();
    if held.len() as f64 >= CARRIED_SHARE * turn.len() as f64 {
        return true;
    }
    let answer: Content = content_of_text(answer).intersection(&turn).cloned().collect();
    let enough = turn.len().min(answer.len() + CARRIED_CONTEXT);
    !answer.is_empty() && answer.is_subset(&held) && held.len() >= enough
}

fn share_of_words(wanted: &Content, shown: &Content) -> f64 {
    wanted.intersection(shown).count() as f64 / wanted.len() as f64
}
