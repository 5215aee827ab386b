//! The candidates among which an answer is chosen, for fitting the weights of the choice.

use domain::message::AnswerV1;

use crate::answer;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::question::Question;
use crate::evidence::text_readings::Readings;
use crate::evidence::word_similarity::Lexicon;
use crate::feature_weights::Weights;

/// Candidates of one type with their features.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Features by candidate, in the order of [`feature_names`].
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
pub fn feature_names() -> [Vec<&'static str>; 3] {
    [
        crate::evidence::rank::NAMES.to_vec(),
        answer::span_names().to_vec(),
        answer::time_names().to_vec(),
    ]
}

/// Returns the turns of a request with their features.
pub fn turn_choice(request: &AnswerV1) -> Choice {
    let question = Question::from_request(request);
    let readings = Readings::default();
    let mut lexicon = Lexicon::from_question(&question, readings.stem_vectors());
    // The weights change the order of the lines, but not their features.
    let pool = Pool::from_request(request, &question, &Weights::default(), &readings, &mut lexicon);
    let mut turns = Choice::default();
    for line in pool.lines {
        turns.rows.push(line.row);
        turns.items.push(line.turn.external_ids.clone());
    }
    turns
}

/// Returns the candidates for the answer to a request; `weights` order the turns that are searched.
pub fn answer_choices(request: &AnswerV1, weights: &Weights) -> Choices {
    let question = Question::from_request(request);
    let readings = Readings::default();
    let mut lexicon = Lexicon::from_question(&question, readings.stem_vectors());
    let pool = Pool::from_request(request, &question, weights, &readings, &mut lexicon);
    if pool.lines.is_empty() {
        return Choices::default();
    }
    answer::collect_candidates(&question, &pool, weights, &mut lexicon)
}
