//! Choice among candidates: the one that agrees most with all others (minimum Bayes risk).

use domain::anchor::AnswerKind;

use crate::answer::FoundAnswer;
use crate::answer::features::candidate_features::counts_head_noun;
use crate::answer::selection::change;
use crate::answer::selection::score::Scored;
use crate::answer::spans::Shape;
use crate::evidence::evidence_lines::Pool;
use crate::evidence::question::Question;
use crate::evidence::word_classes::parse_number;

/// Number of candidates that vote.
const VOTERS: usize = 60;

/// Returns the chosen candidate, or `None` if there are no candidates. The votes are a softmax of the scores at
/// temperature `heat`. Ties go to the higher score, then to the earlier place.
pub(crate) fn choose_candidate(
    question: &Question,
    pool: &Pool<'_>,
    mut scored: Vec<Scored>,
    heat: f32,
) -> Option<FoundAnswer> {
    let place = |it: &Scored| (it.span.line, it.span.sentence, it.span.start, it.span.end);
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b))));
    scored.truncate(VOTERS);
    let top = scored.first()?.score;
    let weights: Vec<f32> = scored.iter().map(|it| ((it.score - top) / heat).exp()).collect();
    let total: f32 = weights.iter().sum();
    let worth = |at: usize| {
        let agreed: f32 = scored
            .iter()
            .zip(&weights)
            .map(|(it, weight)| weight * stem_agreement(&scored[at].stems, &it.stems))
            .sum();
        agreed / total
    };
    let worths: Vec<f32> = (0..scored.len()).map(worth).collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]).then(a.cmp(&b)));
    let share = worths[order[0]].clamp(0.0, 1.0);
    if let Some(found) = find_rival(question, pool, &scored, order[0])
        .or_else(|| change::other_time(question, pool, &scored, order[0]))
        .map(|it| join_values(question, pool, [&scored[order[0]], it]))
    {
        return Some(FoundAnswer { share, ..found });
    }
    let best = &scored[order[0]];
    // A question for a count names what it counts.
    let shown = if question.traits.many {
        best
    } else {
        find_with_unit(&scored, best)
    };
    Some(FoundAnswer {
        text: shown.text.clone(),
        lines: vec![best.span.line],
        share,
        reason: None,
        conflict: false,
        is_doubtful: false,
        stated: None,
    })
}

/// Returns the candidate that has the figure of `best` with the unit next to it: "45 euros" for "45". Returns `best`
/// itself if it has no unit next to it, or is not a figure alone.
fn find_with_unit<'a>(scored: &'a [Scored], best: &'a Scored) -> &'a Scored {
    let has_unit = |it: &&Scored| {
        let (amount, figure) = (&it.span, &best.span);
        amount.shape == Shape::Amount
            && (amount.line, amount.sentence) == (figure.line, figure.sentence)
            && amount.start <= figure.start
            && figure.end <= amount.end
    };
    let is_figure = best.span.shape == Shape::Number;
    scored.iter().find(has_unit).filter(|_| is_figure).unwrap_or(best)
}

/// Largest difference in fit between a rival value and the best value. The next two constants are the largest
/// difference in the order of their lines, and the least cover of the rival's sentence as a share of the best one's.
const RIVAL: f32 = 0.75;
const RIVAL_ORDER: f32 = 1.0;
pub(crate) const RIVAL_COVER: f32 = 0.8;

/// Returns another value for the same thing, from another line. Only numbers, durations and colours exclude each other
/// surely enough, and only lines that the pack shows count.
fn find_rival<'a>(question: &Question, pool: &Pool<'_>, scored: &'a [Scored], best: usize) -> Option<&'a Scored> {
    let sentence = |it: &Scored| &pool.lines[it.span.line].sentences[it.span.sentence];
    let first = &scored[best];
    let value = comparable_value(question, pool, first)?;
    scored.iter().find(|it| {
        let (mine, other) = (&pool.lines[first.span.line], &pool.lines[it.span.line]);
        it.span.line != first.span.line
            && (mine.packed && other.packed)
            && (mine.own >= 0.0 && other.own >= 0.0)
            && (it.fit >= first.fit - RIVAL && other.order >= mine.order - RIVAL_ORDER)
            && sentence(it).cover >= RIVAL_COVER * sentence(first).cover.max(0.5)
            && crate::answer::selection::choice::comparable_value(question, pool, it).is_some_and(|it| it != value)
    })
}

/// Returns the value of a candidate for the thing in question. Returns `None` if another value could also be true.
fn comparable_value(question: &Question, pool: &Pool<'_>, it: &Scored) -> Option<String> {
    let sentence = &pool.lines[it.span.line].sentences[it.span.sentence];
    if question.kind == AnswerKind::Number {
        let number = parse_number(&it.text.to_lowercase())?;
        counts_head_noun(&sentence.terms, it.span.end, &question.head).then(|| number.to_string())
    } else if question.kind == AnswerKind::Duration {
        Some(it.stems.join(" "))
    } else {
        // "Dark green" counts as green.
        it.stems.last().cloned()
    }
}

/// Joins two different values into one answer. The later value is the answer, unless the question asks for the former
/// one. Values of the same time are in conflict. Values of two people are in conflict too if the question is about
/// neither of them and the later sentence mentions no change.
fn join_values(question: &Question, pool: &Pool<'_>, mut pair: [&Scored; 2]) -> FoundAnswer {
    let observation_time = |it: &Scored| pool.lines[it.span.line].turn.observed_at;
    let actor = |it: &Scored| pool.lines[it.span.line].turn.actor.as_str();
    let tellers = actor(pair[0]) != actor(pair[1]);
    let own = |it: &&Scored| question.subject.as_ref().is_some_and(|name| name == actor(it));
    let last = pair.iter().max_by_key(|it| observation_time(it));
    let anew = last.is_some_and(|it| change::mentions_change(&pool.lines[it.span.line].sentences[it.span.sentence]));
    let conflict = observation_time(pair[0]) == observation_time(pair[1]) || tellers && !anew && !pair.iter().any(own);
    let later = observation_time(pair[1]) > observation_time(pair[0]);
    if !conflict && later != change::asks_before(question) {
        pair.swap(0, 1);
    }
    let by = |it: &Scored| match tellers {
        true => format!(" by {}", actor(it)),
        false => String::new(),
    };
    let describe_value = |it: &Scored| {
        format!(
            "\"{}\" was said{} on {}",
            it.text,
            by(it),
            observation_time(it).format("%-d %B %Y")
        )
    };
    let how = if conflict { "the evidence disagrees" } else { "updated" };
    FoundAnswer {
        text: pair[0].text.clone(),
        lines: pair.iter().map(|it| it.span.line).collect(),
        share: 0.0,
        reason: Some(format!(
            "{how}: {}, {}",
            describe_value(pair[0]),
            describe_value(pair[1])
        )),
        conflict,
        is_doubtful: false,
        stated: None,
    }
}

/// Returns the F1 of two bags of words.
fn stem_agreement(a: &[String], b: &[String]) -> f32 {
    let mut rest: Vec<&String> = b.iter().collect();
    let mut same = 0.0;
    for stem in a {
        if let Some(at) = rest.iter().position(|it| *it == stem) {
            rest.swap_remove(at);
            same += 1.0;
        }
    }
    2.0 * same / (a.len() + b.len()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::features::grade::Grade;
    use crate::answer::spans::{Span, Timed};

    fn candidate(text: &str, start: usize, shape: Shape) -> Scored {
        Scored {
            span: Span {
                line: 0,
                sentence: 0,
                start,
                end: start + text.len(),
                before: String::new(),
                led: String::new(),
                shape,
                timed: Timed::No,
                money: false,
            },
            text: text.to_owned(),
            stems: Vec::new(),
            score: 0.0,
            fit: 0.0,
            grade: Grade::Right,
            row: Vec::new(),
        }
    }

    #[test]
    fn a_figure_is_shown_with_the_unit_next_to_it() {
        // "It took 45 euros and 3 stamps, or $60."
        let scored = [
            candidate("45", 8, Shape::Number),
            candidate("45 euros", 8, Shape::Amount),
            candidate("3", 21, Shape::Number),
            candidate("60", 34, Shape::Number),
            candidate("$60", 33, Shape::Amount),
            candidate("45 days", 8, Shape::Duration),
        ];
        let shown = |best: usize| find_with_unit(&scored, &scored[best]).text.as_str();
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(shown),
            ["45 euros", "45 euros", "3", "$60", "$60", "45 days"]
        );
        let mut elsewhere = candidate("45", 8, Shape::Number);
        elsewhere.span.sentence = 1;
        assert_eq!(find_with_unit(&scored, &elsewhere).text, "45");
    }
}
