//! Scores of the candidate answers.

use text::gloss::Piece;

use crate::answer::features::candidate_features::{Context, ShownCandidate, score_without_place};
use crate::answer::features::grade::{Grade, grade_candidate};
use crate::answer::spans::Span;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::line::Sentence;
use crate::evidence::question::Question;
use crate::evidence::word_similarity::Lexicon;
use crate::word_lists::SPOKEN_OPENINGS;

/// A candidate with its score and the words by which candidates are compared.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    /// The candidate.
    pub(crate) span: Span,
    /// Text of the candidate in the form in which it is shown.
    pub(crate) text: String,
    /// Stems of its words without articles, for comparing candidates.
    pub(crate) stems: Vec<String>,
    /// Logit of being the answer.
    pub(crate) score: f32,
    /// `score` without the contribution of its turn and sentence.
    pub(crate) fit: f32,
    /// Grade of the candidate for the kind of the question.
    pub(crate) grade: Grade,
    /// The features that `score_spans` weighs.
    pub(crate) row: Vec<f32>,
}

/// Returns the scores of all candidates that have something to show and are not of another kind.
pub(crate) fn score_spans(
    question: &Question,
    pool: &Pool<'_>,
    spans: Vec<Span>,
    weights: &[f32],
    lexicon: &mut Lexicon,
) -> Vec<Scored> {
    let context = Context::new(question, pool, &spans);
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let sentence = &pool.lines[span.line].sentences[span.sentence];
        let (text, lower) = said_elsewhere(sentence, &span).unwrap_or_else(|| {
            let text = strip_speaker_words(&sentence.text[span.start..span.end]);
            let lower = text::split_words(&text).into_iter().map(str::to_lowercase).collect();
            (text, lower)
        });
        let stems = stems_without_articles(&lower, lexicon);
        let grade = grade_candidate(question, &span, &lower);
        if stems.is_empty() || grade == Grade::Wrong {
            continue;
        }
        let shown = ShownCandidate {
            text: &text,
            lower: &lower,
            stems: &stems,
            grade,
        };
        let row = context.feature_row(&span, &shown, lexicon);
        out.push(Scored {
            score: row.iter().zip(weights).map(|(it, weight)| it * weight).sum(),
            fit: score_without_place(&row, weights),
            span,
            text,
            stems,
            grade,
            row,
        });
    }
    out
}

/// Returns a candidate of another language as it is shown, and its lower-case words, in English where the English is
/// known. Leading words that refer to the speaker are removed. Returns `None` for English sentences.
fn said_elsewhere(sentence: &Sentence, span: &Span) -> Option<(String, Vec<String>)> {
    let pieces = sentence.pieces.as_ref()?;
    let inside = |it: &&Piece| span.start <= it.range.start && it.range.end <= span.end;
    let opens = |it: &&Piece| it.english.as_deref().is_some_and(|it| SPOKEN_OPENINGS.contains(it));
    let inner_pieces: Vec<&Piece> = pieces.iter().filter(inside).skip_while(opens).collect();
    let written = |it: &Piece| sentence.text[it.range.clone()].to_lowercase();
    let lower = |it: &&Piece| it.english.as_deref().map_or_else(|| written(it), str::to_owned);
    let words: Vec<String> = inner_pieces.iter().map(lower).collect();
    let text = sentence.text.get(inner_pieces.first()?.range.start..span.end)?;
    Some((
        text.to_owned(),
        words.iter().flat_map(|it| it.split(' ')).map(str::to_owned).collect(),
    ))
}

/// Returns the text without leading words that refer to the speaker: "my old guitar" is shown as "old guitar".
pub(crate) fn strip_speaker_words(text: &str) -> String {
    let mut rest = text.trim();
    loop {
        let (first, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        let lower = first.to_lowercase().replace('’', "'");
        let drops = SPOKEN_OPENINGS.contains(lower.as_str())
            || (rest.len() < text.trim().len()
                && matches!(lower.as_str(), "am" | "was" | "are" | "were" | "have" | "had" | "is"));
        if !drops || tail.is_empty() {
            return rest.to_owned();
        }
        rest = tail;
    }
}

fn stems_without_articles(lower: &[String], lexicon: &mut Lexicon) -> Vec<String> {
    let article = |it: &&String| !matches!(it.as_str(), "a" | "an" | "the" | "and");
    lower.iter().filter(article).map(|it| lexicon.stem_word(it)).collect()
}
