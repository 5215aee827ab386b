//! Candidates for hints, before they are compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::fact::Fact;
use domain::recall::Trigger;

/// Something that a message brings to mind.
#[derive(Clone, Debug)]
pub struct Idea {
    /// Position of the turn that the idea is about.
    pub place: usize,
    /// The kind of reason.
    pub trigger: Trigger,
    /// The reason in words, as a statement about the message.
    pub reason: String,
    /// True if there is a reason in addition to a shared name or word. Without a language model, only such ideas become
    /// hints.
    pub matters: bool,
    /// Similarity of the message to the idea, 0 to 1.
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
    /// Adds an idea. Of two ideas about one turn, one is kept, with the facts of both: one that matters before one that
    /// does not, then a contradiction before a preference before other triggers, then one with a fact, then the one with
    /// the higher score.
    pub fn add_idea(&mut self, idea: Idea) {
        let Some(old) = self.0.get_mut(&idea.place) else {
            self.0.insert(idea.place, idea);
            return;
        };
        let rank = |it: &Idea| match it.trigger {
            Trigger::Contradiction => 2,
            Trigger::Preference => 1,
            Trigger::MultiHop
            | Trigger::Entity
            | Trigger::Place
            | Trigger::Topic
            | Trigger::State
            | Trigger::Time
            | Trigger::Pattern
            | Trigger::Emotion => 0,
        };
        let score = old.score.max(idea.score);
        let order = |it: &Idea| (it.matters, rank(it), !it.facts.is_empty(), it.score);
        let better = order(&idea) > order(old);
        let (mut better_idea, other) = if better {
            (idea, old.clone())
        } else {
            (old.clone(), idea)
        };
        for fact in other.facts {
            if !better_idea.facts.iter().any(|it| it.id == fact.id) {
                better_idea.facts.push(fact);
            }
        }
        better_idea.score = score;
        *old = better_idea;
    }
}
