//! Nicknames: the words that two people use to address each other in sessions in which only they speak.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::id::SessionId;
use serde::{Deserialize, Serialize};

use crate::space::id_map::IdMap;
use crate::space::spill_file::SpillFile;

/// Number of times a word must be used to address the other speaker before it counts as a nickname (`CALLS_MIN`), and
/// how many times as often as in the opposite direction (`CALLS_RATIO`).
const CALLS_MIN: u64 = 3;
const CALLS_RATIO: u64 = 3;

/// Words used to address someone, by session and by word. All names are classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct NicknameCounts {
    sessions: IdMap<SessionId, BTreeMap<String, ActorWords>>,
    /// Number of times a word was used, by word and by (caller, called); only sessions with two actors count.
    words: BTreeMap<String, BTreeMap<(String, String), u64>>,
}

/// The number of units of one actor in a session, and how often the actor called somebody by each word.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ActorWords {
    units: u64,
    called: BTreeMap<String, u64>,
}

impl NicknameCounts {
    /// Counts a unit, or removes it if `more` is false. Returns the words whose counts changed.
    pub(crate) fn count_unit(
        &mut self,
        session: SessionId,
        actor: &str,
        called: &[String],
        more: bool,
    ) -> BTreeSet<String> {
        let mut changed: BTreeSet<String> = called.iter().cloned().collect();
        let actors = self.sessions.get_or_default(session);
        let pair = actors.len() == 2 && actors.contains_key(actor);
        let stays = pair && (more || actors.get(actor).is_some_and(|it| it.units > 1));
        if stays {
            let other = actors.keys().find(|it| *it != actor).cloned().unwrap_or_default();
            for word in called {
                add_to_call_count(&mut self.words, word, actor, &other, if more { 1 } else { -1 });
            }
        } else {
            changed.extend(self.count_session_calls(session, -1));
        }
        let actors = self.sessions.get_or_default(session);
        let counts_of_actor = actors.entry(actor.to_owned()).or_default();
        let step = |it: &mut u64| *it = if more { *it + 1 } else { it.saturating_sub(1) };
        step(&mut counts_of_actor.units);
        called
            .iter()
            .for_each(|it| step(counts_of_actor.called.entry(it.clone()).or_default()));
        counts_of_actor.called.retain(|_, times| *times > 0);
        if counts_of_actor.units == 0 {
            actors.remove(actor);
        }
        if actors.is_empty() {
            self.sessions.remove(session);
        }
        if !stays {
            changed.extend(self.count_session_calls(session, 1));
        }
        changed
    }

    /// Spills what was not used since the last call to a file.
    pub(crate) fn spill_unused(&mut self, file: &Arc<SpillFile>) {
        self.sessions.spill_unused(file);
    }

    /// Returns the speakers of whom a word is a nickname.
    pub(crate) fn speakers_with_nickname(&self, word: &str) -> BTreeSet<&String> {
        let Some(pairs) = self.words.get(word) else {
            return BTreeSet::new();
        };
        let holds = |(caller, called): &(String, String), times: u64| {
            let back = pairs
                .get(&(called.clone(), caller.clone()))
                .copied()
                .unwrap_or_default();
            let own = caller.split(' ').any(|it| it == word);
            times >= CALLS_MIN && times >= CALLS_RATIO * back && !own
        };
        pairs
            .iter()
            .filter(|(pair, times)| holds(pair, **times))
            .map(|((_, called), _)| called)
            .collect()
    }

    /// Adds or subtracts all calls of a session with two actors.
    fn count_session_calls(&mut self, session: SessionId, sign: i64) -> BTreeSet<String> {
        let Some(actors) = self.sessions.get(session).filter(|it| it.len() == 2) else {
            return BTreeSet::new();
        };
        let mut changed = BTreeSet::new();
        let names: Vec<&String> = actors.keys().collect();
        for (caller, called) in [(names[0], names[1]), (names[1], names[0])] {
            for (word, times) in actors.get(caller).iter().flat_map(|it| &it.called) {
                add_to_call_count(&mut self.words, word, caller, called, sign * times.cast_signed());
                changed.insert(word.clone());
            }
        }
        changed
    }
}

fn add_to_call_count(
    words: &mut BTreeMap<String, BTreeMap<(String, String), u64>>,
    word: &str,
    caller: &str,
    called: &str,
    by: i64,
) {
    let pairs = words.entry(word.to_owned()).or_default();
    let key = (caller.to_owned(), called.to_owned());
    let times = pairs.entry(key.clone()).or_default();
    *times = times.saturating_add_signed(by);
    if *times == 0 {
        pairs.remove(&key);
    }
    if pairs.is_empty() {
        words.remove(word);
    }
}
