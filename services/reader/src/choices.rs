//! The candidates among which an answer is chosen, for fitting the weights of the choice.

use domain::message::AnswerV1;

use crate::answer;
use crate::pool::Pool;
use crate::question::Question;
use crate::readings::Readings;
use crate::weights::Weights;
use crate::words::Lexicon;

/// Candidates of one type with their features.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Features by candidate, in the order of [`names`].
    pub rows: Vec<Vec<f32>>,
    /// The content of each candidate: the text as it is shown, or the external ids of the records of a turn.
    pub items: Vec<Vec<String>>,
}

/// All candidates of a request except its turns.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Candidate answers in the best turns; empty if the question gets no answer of this type.
    pub spans: Choice,
    /// Times in the best turns; empty if the question asks for no time.
    pub times: Choice,
}

/// Returns the names of the features of turns, candidate answers and times.
pub fn names() -> [Vec<&'static str>; 3] {
    [
        crate::rank::NAMES.to_vec(),
        answer::span_names().to_vec(),
        answer::time_names().to_vec(),
    ]
}

/// Returns the turns of a request with their features.
pub fn turn_choice(request: &AnswerV1) -> Choice {
    let question = Question::of(request);
    let readings = Readings::default();
    let mut lexicon = Lexicon::of(&question, readings.stems());
    // The weights change the order of the lines, but not their features.
    let pool = Pool::gather(request, &question, &Weights::default(), &readings, &mut lexicon);
    let mut turns = Choice::default();
    for line in pool.lines {
        turns.rows.push(line.row);
        turns.items.push(line.turn.external_ids.clone());
    }
    turns
}

/// Returns the candidates for the answer to a request; `weights` order the turns that are searched.
pub fn choices(request: &AnswerV1, weights: &Weights) -> Choices {
    let question = Question::of(request);
    let readings = Readings::default();
    let mut lexicon = Lexicon::of(&question, readings.stems());
    let pool = Pool::gather(request, &question, weights, &readings, &mut lexicon);
    if pool.lines.is_empty() {
        return Choices::default();
    }
    answer::choices(&question, &pool, weights, &mut lexicon)
}
