//! Whether the line of an answer reports the event in question: it happened, the person in question did it, and the
//! speaker means it. The checks read only English sentences, and they object only if a sentence shows the opposite.

use domain::time::TimeSpan;
use text::lexicon::{Class as WordClass, is_in_class};
use text::people::role::is_user;
use text::{facts, gloss, is_auxiliary, stem_word};

use crate::answer::FoundAnswer;
use crate::check::judge::Case;
use crate::check::near_misses::near_misses;
use crate::check::objection::Objection;
use crate::evidence::evidence_lines::is_same_speaker;
use crate::evidence::line::{Line, Sentence};
use crate::evidence::question::Question;
use crate::evidence::verb_context::{VerbContext, clause_names_another};

/// A verb in the line of an answer that occurs in the question or is similar to the verb of the question.
struct Verb<'a> {
    sentence: &'a Sentence,
    /// Byte offset of the verb in the sentence.
    at: usize,
}

impl Verb<'_> {
    fn context(&self) -> VerbContext {
        VerbContext::read(&self.sentence.text, self.at)
    }

    /// Returns true if the speaker of `text`, the turn of the sentence, means the verb literally.
    fn is_meant(&self, text: &str) -> bool {
        self.place_in(text).is_none_or(|at| facts::is_meant(text, at))
    }

    /// Returns the byte offset of the verb in its turn.
    fn place_in(&self, text: &str) -> Option<usize> {
        text.find(&self.sentence.text).map(|start| start + self.at)
    }
}

/// Objects if the question is about the past and the line only denies, plans or supposes the event.
pub(crate) fn event_is_not_reported(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let question = case.question;
    if !is_about_past(question) || question.traits.negated {
        return None;
    }
    let text = answer_line(case, found)?.turn.text.as_str();
    let verbs = verbs_of_answer(case, found, false);
    let unreported = |it: &Verb<'_>| {
        let context = it.context();
        // "I'd be moody if I hadn't quit smoking" reports the event.
        context.is_denied() && it.is_meant(text) || context.is_intended(&question.lower)
    };
    let reason = "the evidence does not say that this happened";
    (!verbs.is_empty() && verbs.iter().all(unreported)).then(|| Objection::partial_evidence(reason))
}

/// Objects if the clause of the line is about another person than the one in question: "My mother ran the marathon".
pub(crate) fn another_person_acts(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let question = case.question;
    let person = Person::from_question(question)?;
    let line = answer_line(case, found)?;
    let verbs = verbs_of_answer(case, found, true);
    let other = |it: &Verb<'_>| {
        let context = it.context();
        if question_is_passive(question) && !context.is_passive() {
            return false;
        }
        match person.tells(line) {
            true => clause_names_another(&context, &question.lower),
            false => {
                let names_person = question.subject.as_ref().is_some_and(|name| it.sentence.tells_of(name));
                !names_person && question.subject.is_some() && context.is_about_speaker()
            }
        }
    };
    let reason = "the evidence says this of another person";
    (!verbs.is_empty() && verbs.iter().all(other))
        .then(|| Objection::insufficient_evidence(reason, near_misses(case.pool, &found.lines, "said_by_other")))
}

/// Objects if the question is about the past and the line is not meant literally, or if the person in question only
/// asks in it, or quotes somebody else.
pub(crate) fn event_is_not_meant(case: &Case<'_>, found: &FoundAnswer) -> Option<Objection> {
    let question = case.question;
    if !is_about_past(question) {
        return None;
    }
    let line = answer_line(case, found)?;
    let text = line.turn.text.as_str();
    let is_own = Person::from_question(question).is_some_and(|it| it.tells(line));
    let asks = |it: &Sentence| {
        let words = text::split_words(&it.text);
        let is_you = |it: &&str| is_in_class(&it.to_lowercase(), WordClass::SecondPerson);
        it.question && !words.iter().any(is_you)
    };
    let unmeant = |it: &Verb<'_>| {
        let supposed = !it.is_meant(text) && !it.context().is_denied();
        let quotes = || it.place_in(text).is_some_and(|at| !facts::is_in_own_words(text, at));
        supposed || is_own && (asks(it.sentence) || quotes())
    };
    let verbs = verbs_of_answer(case, found, false);
    let reason = "the evidence may not be meant as a report of this";
    (!verbs.is_empty() && verbs.iter().all(unmeant)).then(|| Objection::partial_evidence(reason))
}

/// The person whose act the question asks for: the word after the auxiliary verb.
struct Person<'a> {
    /// Name of the speaker, or `None` for the user of an assistant.
    name: Option<&'a str>,
}

impl<'a> Person<'a> {
    /// Returns the person in a question such as "When did Ann run?" or "How far did I run?". Returns `None` if the
    /// grammatical subject is anything else, as in "When did Ann's sister run?".
    fn from_question(question: &'a Question) -> Option<Person<'a>> {
        let words = text::split_words(&question.lower);
        let who = words.iter().position(|it| is_auxiliary(it))? + 1;
        if matches!(words.get(who + 1), None | Some(&("and" | "or"))) {
            return None;
        }
        let name = question.subject.as_deref();
        let is_named = |name: &str| {
            let lower = name.to_lowercase();
            text::split_words(&lower).first() == Some(&words[who])
        };
        match words.get(who) {
            Some(&"i") => Some(Person { name }),
            Some(_) if name.is_some_and(is_named) => Some(Person { name }),
            _ => None,
        }
    }

    /// Returns true if the person says the line.
    fn tells(&self, line: &Line<'_>) -> bool {
        match self.name {
            Some(name) => is_same_speaker(name, &line.turn.actor),
            None => is_user(&line.turn.actor),
        }
    }
}

/// Returns true if the first auxiliary verb of a question is in the past or the perfect.
fn is_about_past(question: &Question) -> bool {
    let words = text::split_words(&question.lower);
    let first = words.into_iter().find(|it| is_auxiliary(it));
    first.is_some_and(|it| matches!(it, "did" | "was" | "were" | "had" | "has" | "have"))
}

/// Returns true if the question is about what was done to a person: "When was Ann hired?".
fn question_is_passive(question: &Question) -> bool {
    let words = text::split_words(&question.lower);
    let Some(verb) = question.words.iter().find(|it| it.verb) else {
        return false;
    };
    let is_verb = |it: &&str| stem_word(it) == verb.stem;
    let is_be = |it: &&str| *it == "been" || is_in_class(it, WordClass::FormOfBe);
    words.iter().any(is_be)
        && words
            .iter()
            .find(|it| is_verb(it))
            .is_some_and(|it| !it.ends_with("ing"))
}

/// Returns the line of an answer that was extracted from phrases; `None` for a stated fact and for values in conflict.
fn answer_line<'a>(case: &'a Case<'_>, found: &FoundAnswer) -> Option<&'a Line<'a>> {
    if found.stated.is_some() || found.conflict {
        return None;
    }
    found.lines.first().map(|&it| &case.pool.lines[it])
}

/// Returns the verbs of the question in the sentences that give the answer: only equal words if `equal` is set,
/// otherwise similar words too. The result is empty if the question or one of the sentences is not in English.
fn verbs_of_answer<'a>(case: &'a Case<'_>, found: &FoundAnswer, equal: bool) -> Vec<Verb<'a>> {
    let Some(line) = answer_line(case, found) else {
        return Vec::new();
    };
    let Some(asked) = case.question.words.iter().find(|it| it.verb) else {
        return Vec::new();
    };
    let sentences = sentences_of_answer(line, found);
    if gloss::split_pieces(&case.request.question).is_some() || sentences.iter().any(|it| it.pieces.is_some()) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for sentence in sentences {
        let terms = sentence.terms.iter().filter(|it| it.stem == asked.stem);
        let places: Vec<usize> = match equal {
            true => terms.map(|it| it.start).collect(),
            false => sentence.hits.iter().filter(|it| it.1).map(|it| it.0).collect(),
        };
        out.extend(places.into_iter().map(|at| Verb { sentence, at }));
    }
    out
}

/// Returns the spoken sentences of a line that contain the answer, or all of them if none does: then the answer is the
/// day on which the line was said.
fn sentences_of_answer<'a>(line: &'a Line<'_>, found: &FoundAnswer) -> Vec<&'a Sentence> {
    let observed_at = line.turn.observed_at;
    let shown = found.text.to_lowercase();
    let is_shown = |it: &&TimeSpan| {
        let rendered = text::time::render_mention(it, observed_at).to_lowercase();
        !it.words.is_empty() && rendered.contains(&shown)
    };
    let times: Vec<&str> = line
        .turn
        .times
        .iter()
        .filter(is_shown)
        .map(|it| it.words.as_str())
        .collect();
    let holds = |it: &&Sentence| it.text.contains(&found.text) || times.iter().any(|time| it.text.contains(*time));
    let spoken = || line.sentences.iter().filter(|it| !it.caption);
    let out: Vec<&Sentence> = spoken().filter(holds).collect();
    if out.is_empty() { spoken().collect() } else { out }
}
