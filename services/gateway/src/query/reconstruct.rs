//! Reconstruction (MRAgent, section 3.3): from the cues of the question to the tags they are tied by, from the tags that share
//! something with the question to what they stand on, from there to new cues. Tags come before contents, so that little is
//! read. At most 8 turns, at most 10 calls a turn; it ends when what was kept holds every word of the question, or when there
//! is no way on.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::UnitId;
use serde_json::{Value, json};

use super::overlap::Overlap;
use super::results::{Found, list, units};
use super::walk::{Walk, gathered};

const TURNS_MAX: usize = 8;
const CALLS_MAX: usize = 10;
/// Calls of a turn that ask about persons.
const PERSONS_MAX: usize = 3;
/// Tags listed of a cue, units listed of a tag.
const TAGS: u32 = 30;
const UNITS: u32 = 10;
/// A tag of so few units is read even if it shares nothing with the question.
const FEW: u64 = 2;
/// Units asked for new cues, and new cues of each.
const SOURCES: usize = 3;
const CUES_EACH: usize = 2;
/// A unit is kept if it shares this much with the question, measured by the best one.
const KEPT_LEAST: f32 = 0.4;
const KEPT_MAX: usize = 24;
/// Words of a question that open an aspect of a person.
const ASPECTS: [(&str, &[&str]); 10] = [
    (
        "preference",
        &[
            "like",
            "likes",
            "love",
            "loves",
            "favorite",
            "favourite",
            "prefer",
            "prefers",
            "hate",
            "hates",
            "enjoy",
            "enjoys",
            "eat",
            "drink",
        ],
    ),
    (
        "attribute",
        &["old", "age", "allergic", "allergy", "diet", "birthday", "tall"],
    ),
    (
        "relation",
        &[
            "sister", "brother", "wife", "husband", "mother", "father", "son", "daughter", "friend", "partner",
            "married",
        ],
    ),
    (
        "place",
        &[
            "where", "live", "lives", "lived", "move", "moved", "hometown", "city", "country",
        ],
    ),
    (
        "work",
        &[
            "job", "work", "works", "worked", "study", "studies", "company", "career",
        ],
    ),
    (
        "plan",
        &[
            "plan", "plans", "planning", "will", "going", "hope", "hopes", "want", "wants",
        ],
    ),
    (
        "possession",
        &["own", "owns", "have", "has", "buy", "bought", "got", "pet", "car"],
    ),
    ("count", &["many", "much", "number"]),
    (
        "habit",
        &[
            "usually", "often", "every", "habit", "habits", "hobby", "hobbies", "always",
        ],
    ),
    (
        "instruction",
        &[
            "should",
            "want",
            "wants",
            "ask",
            "asked",
            "wish",
            "wishes",
            "rule",
            "rules",
            "instruction",
            "instructions",
        ],
    ),
];

struct State {
    overlap: Overlap,
    /// Words of the question in lower case.
    words: Vec<String>,
    turns: usize,
    asked: BTreeSet<String>,
    seen: BTreeMap<UnitId, (f32, String)>,
}

/// A path that a tag, or an aspect, opens.
struct Tie {
    from: String,
    tag: String,
    units: u64,
    shared: f32,
    person: bool,
}

/// Reconstructs, and returns what shares most with the question.
pub(super) async fn gather(walk: &mut Walk<'_>) -> Vec<UnitId> {
    let question = walk.asked.question.clone();
    let planned = walk.plan().await;
    let mut state = State {
        overlap: walk.weighed(Overlap::of([question.as_str()])).await,
        words: text::words(&question).into_iter().map(str::to_lowercase).collect(),
        turns: TURNS_MAX,
        asked: BTreeSet::new(),
        seen: BTreeMap::new(),
    };
    walk.tell("cues", &planned.cues.join(" | "), planned.cues.len(), &[]);
    let mut cues = planned.cues;
    while !cues.is_empty() && state.turns > 0 && !walk.over() {
        let ties = state.tags(walk, &cues).await;
        state.contents(walk, ties).await;
        let texts = state.kept().into_iter().filter_map(|it| state.seen.get(&it));
        if state.overlap.missing(texts.map(|it| it.1.as_str())).is_empty() {
            walk.tell("stop", "every word of the question was met", state.seen.len(), &[]);
            break;
        }
        cues = state.more(walk).await;
    }
    state.kept()
}

impl State {
    /// Takes a turn; false if there is none left.
    fn turn(&mut self) -> bool {
        let left = self.turns > 0;
        self.turns = self.turns.saturating_sub(1);
        left
    }

    /// Cues to tags, persons to aspects: nothing is read yet.
    async fn tags(&mut self, walk: &mut Walk<'_>, cues: &[String]) -> Vec<Tie> {
        if !self.turn() {
            return Vec::new();
        }
        let capital = |it: &&String| it.chars().next().is_some_and(char::is_uppercase);
        let persons: Vec<&String> = cues.iter().filter(capital).take(PERSONS_MAX).collect();
        let cues: Vec<&String> = cues.iter().take(CALLS_MAX - persons.len()).collect();
        let of_cue = |it: &&String| ("query_tag_events", json!({"cue": it, "limit": TAGS}));
        let of_person = |it: &&String| ("query_personal_information", json!({"person": it}));
        let calls = cues.iter().map(of_cue).chain(persons.iter().map(of_person)).collect();
        let replies = walk.tools("tags", calls).await;
        self.asked.extend(cues.iter().map(|it| it.to_lowercase()));
        let mut ties = Vec::new();
        for (cue, told) in cues.iter().zip(&replies) {
            ties.extend(told.iter().flat_map(|it| self.ties(cue, it)));
        }
        for (person, told) in persons.iter().zip(replies.iter().skip(cues.len())) {
            ties.extend(told.iter().flat_map(|it| self.aspects(person, it)));
        }
        let about: Vec<&str> = cues.iter().map(|it| it.as_str()).collect();
        walk.tell("tags", &about.join(" | "), ties.len(), &[]);
        ties.retain(|it| it.shared > 0.0 || it.units <= FEW);
        ties.sort_by(|a, b| b.shared.total_cmp(&a.shared).then(a.units.cmp(&b.units)));
        ties.truncate(CALLS_MAX);
        ties
    }

    fn ties(&self, cue: &str, told: &Value) -> Vec<Tie> {
        let own = self.overlap.shared(cue);
        let tie = |it: &Value| {
            let tag = it["tag"].as_str()?;
            // What the tag shares beyond the cue itself says that it leads on.
            let shared = (self.overlap.shared(&format!("{cue} {tag}")) - own).max(0.0);
            Some(Tie {
                from: cue.to_owned(),
                tag: tag.to_owned(),
                units: it["units"].as_u64().unwrap_or_default(),
                shared,
                person: false,
            })
        };
        list(told, "tags").iter().filter_map(tie).collect()
    }

    fn aspects(&self, person: &str, told: &Value) -> Vec<Tie> {
        let opened = |aspect: &str| {
            let words = ASPECTS.iter().find(|it| it.0 == aspect).map_or(&[][..], |it| it.1);
            self.words.iter().any(|it| words.contains(&it.as_str()))
        };
        let tie = |it: &Value| {
            let aspect = it["aspect"].as_str().filter(|it| opened(it))?;
            Some(Tie {
                from: person.to_owned(),
                tag: aspect.to_owned(),
                units: it["facts"].as_u64().unwrap_or_default(),
                shared: f32::MAX,
                person: true,
            })
        };
        list(told, "aspects").iter().filter_map(tie).collect()
    }

    /// Tags to contents; what shares enough with the question is kept.
    async fn contents(&mut self, walk: &mut Walk<'_>, ties: Vec<Tie>) {
        if ties.is_empty() || !self.turn() {
            return;
        }
        let call = |it: &Tie| {
            if it.person {
                let arguments = json!({"person": it.from, "aspect": it.tag, "limit": UNITS});
                ("query_personal_aspect", arguments)
            } else {
                let arguments = json!({"cue": it.from, "tag": it.tag, "limit": UNITS});
                ("query_tag_events", arguments)
            }
        };
        let replies = walk.tools("contents", ties.iter().map(call).collect()).await;
        let found: Vec<Found> = replies.iter().flatten().flat_map(units).collect();
        for it in &found {
            let score = self.overlap.shared(&it.text);
            let seen = self.seen.entry(it.unit).or_default();
            if score > seen.0 || seen.1.is_empty() {
                *seen = (score, it.text.clone());
            }
        }
        let about: Vec<String> = ties.iter().map(|it| format!("{} - {}", it.from, it.tag)).collect();
        let kept = self.kept();
        walk.tell("contents", &about.join(" | "), found.len(), &kept);
    }

    /// Contents to new cues: those of the best units that lead to few others.
    async fn more(&mut self, walk: &mut Walk<'_>) -> Vec<String> {
        let kept = self.kept();
        let sources: Vec<UnitId> = kept.into_iter().take(SOURCES).collect();
        if sources.is_empty() || !self.turn() {
            return Vec::new();
        }
        let calls = sources.iter().map(|it| ("query_event_keywords", json!({"unit": it})));
        let replies = walk.tools("keywords", calls.collect()).await;
        let mut out: Vec<String> = Vec::new();
        for told in replies.iter().flatten() {
            let mut cues: Vec<(u64, &str)> = list(told, "cues").iter().filter_map(cue).collect();
            cues.retain(|it| {
                it.0 > 1 && !self.asked.contains(&it.1.to_lowercase()) && !out.iter().any(|one| one == it.1)
            });
            cues.sort();
            out.extend(cues.iter().take(CUES_EACH).map(|it| it.1.to_owned()));
        }
        walk.tell("keywords", &out.join(" | "), out.len(), &[]);
        out
    }

    /// Returns what shares enough with the question, best first, ties by id.
    fn kept(&self) -> Vec<UnitId> {
        let best = self.seen.values().map(|it| it.0).fold(0.0, f32::max);
        let mut kept: Vec<(f32, UnitId)> = self.seen.iter().map(|(unit, it)| (it.0, *unit)).collect();
        kept.retain(|it| it.0 > 0.0 && it.0 >= KEPT_LEAST * best);
        kept.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        kept.truncate(KEPT_MAX);
        gathered(kept.into_iter().map(|it| it.1))
    }
}

/// Returns a cue of a unit with the number of units it leads to, the unit itself among them.
fn cue(told: &Value) -> Option<(u64, &str)> {
    Some((told["units"].as_u64()?, told["cue"].as_str()?))
}
