//! What might be said, before it is weighed against all else.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::fact::Fact;
use domain::recall::Trigger;

/// Something that a message wakes.
#[derive(Clone, Debug)]
pub struct Idea {
    /// Place of the turn it stands on.
    pub place: usize,
    /// The turn on the way to it, of what is tied over something else.
    pub over: Option<usize>,
    /// Why.
    pub trigger: Trigger,
    /// The same in words, about the message.
    pub reason: String,
    /// How likely it is worth saying, 0 to 1.
    pub score: f32,
    /// The facts it tells, as they were known when the message was said; of one source, those that bear most on it first.
    pub facts: Vec<Arc<Fact>>,
    /// What the message says, what the memory says, if they differ.
    pub sides: Vec<String>,
}

/// Ideas by the turn they stand on.
#[derive(Default)]
pub struct Ideas(pub BTreeMap<usize, Idea>);

impl Ideas {
    /// Takes an idea in. Of two on one turn a contradiction stands before a wish, a wish before the rest, the direct before what
    /// is reached over something else, then what scores higher; facts of both are kept.
    pub fn add(&mut self, idea: Idea) {
        let Some(old) = self.0.get_mut(&idea.place) else {
            self.0.insert(idea.place, idea);
            return;
        };
        let rank = |it: &Idea| match it.trigger {
            Trigger::Contradiction => 3,
            Trigger::Preference => 2,
            Trigger::MultiHop => 0,
            Trigger::Entity
            | Trigger::Place
            | Trigger::Topic
            | Trigger::State
            | Trigger::Time
            | Trigger::Pattern
            | Trigger::Emotion => 1,
        };
        let score = old.score.max(idea.score);
        let direct = old.over.is_none() || idea.over.is_none();
        let better = (rank(&idea), idea.score) > (rank(old), old.score);
        let (mut kept, other) = if better {
            (idea, old.clone())
        } else {
            (old.clone(), idea)
        };
        for fact in other.facts {
            if !kept.facts.iter().any(|it| it.id == fact.id) {
                kept.facts.push(fact);
            }
        }
        (kept.score, kept.over) = (score, kept.over.filter(|_| !direct));
        *old = kept;
    }
}
