//! Candidates for hints, before they are compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::fact::Fact;
use domain::recall::Trigger;

/// Something that a message brings to mind.
#[derive(Clone, Debug)]
pub struct Idea {
    /// Position of the turn that it is about.
    pub place: usize,
    /// The turn in between, if it is reached over another turn.
    pub over: Option<usize>,
    /// The kind of reason.
    pub trigger: Trigger,
    /// The reason in words, as a statement about the message.
    pub reason: String,
    /// How likely the idea is worth a hint, 0 to 1.
    pub score: f32,
    /// The facts that it contains, as they were known when the message was sent. Of one source, the most relevant ones
    /// come first.
    pub facts: Vec<Arc<Fact>>,
    /// The statement of the message, then that of the memory, if they contradict each other.
    pub sides: Vec<String>,
}

/// Ideas by the turn that they are about.
#[derive(Default)]
pub struct Ideas(pub BTreeMap<usize, Idea>);

impl Ideas {
    /// Adds an idea. Of two ideas about one turn, one is kept, with the facts of both: a contradiction before a
    /// preference, a preference before other triggers, these before a multi-hop; then the one with the higher score.
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
