//! Detects times that lie in the future whatever the tense of the verbs near them: something was booked or postponed,
//! or begins on a day.

use crate::lexicon::{Class as WordClass, Classes, classes_of_word, is_in_class, words_of_class};
use crate::time::tense::verb_forms::{is_be, may_be_present_be, opens_clause, tense_cue};
use crate::time::token::{Tense, Token};
use crate::time_words::lexicon::Class;

/// An act that concerns a future event; the kind of act decides which words lead to the time of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Plan {
    #[default]
    None,
    /// "booked the ferry for June".
    Booked,
    /// "invited to a wedding in June".
    Invited,
    /// "signed up for the run in June".
    Joined,
    /// "moved to Friday".
    Moved,
}

/// State of the sentence up to the current token.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    plan: Plan,
    /// With [`Plan::Joined`]: the text has reached "for", which names the event.
    joined: bool,
    /// The last verb of the clause is in the past.
    past: bool,
    /// The clause says that a person got something.
    gained: bool,
    /// The clause has a present form of "be" since its last verb.
    is: bool,
    /// The clause says that an event is planned or set: "the wedding is set".
    settled: bool,
    /// The sentence reports a habit.
    habit: bool,
}

impl Ahead {
    /// Returns the state at the start of the sentence that token `i` begins.
    pub(crate) fn from_sentence(tokens: &[Token<'_>], i: usize) -> Ahead {
        Ahead {
            habit: reports_habit(tokens, i),
            ..Ahead::default()
        }
    }

    /// Reads token `i`, whose own tense is `cue`. Returns true if the tokens after it lie in the future.
    pub(crate) fn read_token(&mut self, tokens: &[Token<'_>], i: usize, cue: Tense, english: bool) -> bool {
        let word = &*tokens[i].lower;
        let classes = classes_of_word(word);
        let next = tokens.get(i + 1).map_or("", |it| &*it.lower);
        // "The wedding is set, May 12."
        let dates = english && self.settled && matches!(tokens[i].class, Class::Mark(_)) && is_time(tokens, i + 1);
        if separates_plans(word, classes) || cue != Tense::Open {
            self.plan = Plan::None;
            self.joined = false;
            self.past = cue == Tense::Past;
            self.gained = self.past && classes.has_class(WordClass::Gains);
            self.is = false;
            self.settled = false;
        }
        self.is |= may_be_present_be(word);
        self.settled |= self.is && (classes.has_class(WordClass::MovesDate) || is_planning_verb(word));
        self.plan = plan_opened_by(word, classes, next, english).unwrap_or(self.plan);
        let gains = self.gained && classes.has_class(WordClass::GainedThing);
        dates || self.leads_to_plan_time(tokens, i) || english && (gains || self.announces_event(tokens, i, classes))
    }

    fn leads_to_plan_time(&mut self, tokens: &[Token<'_>], i: usize) -> bool {
        let word = &*tokens[i].lower;
        let to_time = || is_in_class(word, WordClass::LeadsToPlan) && is_time(tokens, i + 1);
        match self.plan {
            // "is closed until May".
            Plan::None => self.is && matches!(word, "until" | "till") && is_time(tokens, i + 1),
            Plan::Booked => is_in_class(word, WordClass::LeadsToBooked) || to_time(),
            Plan::Invited => matches!(word, "to" | "for"),
            Plan::Moved => to_time(),
            Plan::Joined => {
                self.joined |= word == "for";
                self.joined
                    && (is_in_class(word, WordClass::Event)
                        || is_in_class(word.strip_suffix('s').unwrap_or(word), WordClass::Event))
            }
        }
    }

    /// Returns true if token `i`, which is of these classes, announces a future event: "we get the keys on Monday",
    /// "the course starts in March", "we're flying on Friday", "starting 1 April", "due in May", "I gave notice and start
    /// the new job on 1 May".
    fn announces_event(&self, tokens: &[Token<'_>], i: usize, classes: Classes) -> bool {
        let lower = |back: usize| i.checked_sub(back).map_or("", |it| &*tokens[it].lower);
        let (word, last) = (&*tokens[i].lower, lower(1));
        let next = tokens.get(i + 1).map_or("", |it| &*it.lower);
        match word {
            "due" => return next != "to" && !matches!(last, "was" | "were"),
            "starting" | "beginning" => return is_time(tokens, i + 1) && !is_in_class(last, WordClass::BeforeStarting),
            // "Got the job! Start on the 19th": a present verb at the start of a clause is not in the past.
            _ if classes.has_class(WordClass::StartsEvent) && opens_clause(tokens, i) => return is_time(tokens, i + 1),
            _ => {}
        }
        if self.habit {
            return false;
        }
        if shares_subject_with_past(tokens, i, classes) {
            return true;
        }
        let is_question = is_in_class(lower(2), WordClass::AsksBeforeSubject);
        let progressive = || {
            let of_person = matches!(last, "'s" | "’s") && is_in_class(lower(2), WordClass::PersonBeforeIs);
            let verb = word.len() > 4 && word.ends_with("ing") && tokens[i].class == Class::Other;
            verb && (is_be(last) || of_person)
        };
        let subject = || {
            let stands = last.starts_with(char::is_alphabetic) && !is_in_class(last, WordClass::NoSubject);
            stands || is_time(tokens, i + 1)
        };
        let owned = || word != "have" || is_in_class(next, WordClass::Article) || next == "another";
        match last {
            "i" | "we" | "you" | "they" => !is_question && classes.has_class(WordClass::EventVerb) && owned(),
            "he" | "she" | "it" => !is_question && classes.has_class(WordClass::EventVerbThird),
            _ => progressive() || !self.past && classes.has_class(WordClass::EventVerbThird) && subject(),
        }
    }
}

/// Returns true if token `i`, which is of these classes, is a verb in the present that "and" or "but" joins to a verb in
/// the past, with the same subject: "I gave notice on Monday and start the new job on 1 May". Returns false for a verb
/// without a tense ("I helped her pack and move the piano on 1 May") and for a word that may be a noun ("I enjoyed the
/// ferry and drive on 1 May").
fn shares_subject_with_past(tokens: &[Token<'_>], i: usize, classes: Classes) -> bool {
    let states_event = classes.has_class(WordClass::EventVerb) || classes.has_class(WordClass::EventVerbThird);
    if !states_event || classes.has_class(WordClass::Auxiliary) {
        return false;
    }
    let joint = i
        .checked_sub(1)
        .filter(|it| matches!(&*tokens[*it].lower, "and" | "but"));
    let Some(words) = joint.map(|it| words_of_clause_before(tokens, it)) else {
        return false;
    };
    let Some(verb) = (0..words.len()).rfind(|at| is_past_verb(words, *at)) else {
        return false;
    };
    let blocks = |at: usize| {
        let classes = classes_of_word(&words[at].lower);
        let of_verb = [WordClass::Auxiliary, WordClass::TakesBareVerb, WordClass::EventVerb];
        of_verb.iter().any(|it| classes.has_class(*it)) || opens_infinitive(words, at)
    };
    if is_in_class(&words[verb].lower, WordClass::PastCue) || (verb..words.len()).any(blocks) {
        return false;
    }
    let next = tokens.get(i + 1);
    let has_object = next.is_some_and(|it| is_in_class(&it.lower, WordClass::Article));
    let follows_time = words
        .last()
        .is_some_and(|it| matches!(it.class, Class::Weekday(..) | Class::Month(..) | Class::Relative(_)));
    let is_surely_verb = verb + 1 == words.len() || classes.has_class(WordClass::StartsEvent);
    has_object || follows_time || is_surely_verb && is_time(tokens, i + 1)
}

/// Largest number of words before a conjunction that are examined.
const CLAUSE_MAX: usize = 40;

/// Returns at most [`CLAUSE_MAX`] words before token `joint`, back to the last mark or the start of the sentence; a comma
/// directly before the token does not count.
fn words_of_clause_before<'a, 'b>(tokens: &'a [Token<'b>], joint: usize) -> &'a [Token<'b>] {
    let comma = joint.checked_sub(1).filter(|it| tokens[*it].lower == ",");
    let end = comma.unwrap_or(joint);
    let sentence = tokens[joint].sentence;
    let is_outside = |it: &Token<'_>| it.sentence != sentence || matches!(it.class, Class::Mark(_));
    let near = &tokens[end.saturating_sub(CLAUSE_MAX)..end];
    let start = near.iter().rposition(is_outside).map_or(0, |it| it + 1);
    &near[start..]
}

/// Returns true if the word at `at` is a verb in the past, and not "yesterday" or "ago".
fn is_past_verb(words: &[Token<'_>], at: usize) -> bool {
    let lower = |at: usize| words.get(at).map_or("", |it| &*it.lower);
    let last = at.checked_sub(1).map_or("", lower);
    let is_time = matches!(words[at].class, Class::Relative(_)) || lower(at) == "ago";
    !is_time && tense_cue(last, lower(at), lower(at + 1)) == Tense::Past
}

/// Returns true if the word at `at` is the "to" of a verb, and not the preposition of "to the shop" or "to Rome".
fn opens_infinitive(words: &[Token<'_>], at: usize) -> bool {
    let leads_to_place = |it: &Token<'_>| it.capital || is_in_class(&it.lower, WordClass::Article);
    words[at].lower == "to" && !words.get(at + 1).is_some_and(leads_to_place)
}

/// Returns true if the sentence that token `i` begins reports a habit: "every day", "on Mondays".
fn reports_habit(tokens: &[Token<'_>], i: usize) -> bool {
    let often = |it: &Token<'_>| is_in_class(&it.lower, WordClass::Habitual) || matches!(it.class, Class::Weekdays(_));
    tokens[i..]
        .iter()
        .take_while(|it| it.sentence == tokens[i].sentence)
        .any(often)
}

/// Returns true if a sentence without a tense is about the future: "Tickets for the opera in March". If it has no verb
/// (`verbless`), "The night ward, from October" is too; if nothing connects it with the past (`alone`), also "Probably
/// September".
pub(crate) fn hints_at_future(sentence: &[Token<'_>], verbless: bool, alone: bool) -> bool {
    let has = |class: WordClass| sentence.iter().any(|it| is_in_class(&it.lower, class));
    let bounded = || has(WordClass::EndsStretch);
    let begins = |i: usize| {
        let opens = i == 0 || sentence[i - 1].lower == ",";
        opens && sentence[i].lower == "from" && is_time(sentence, i + 1)
    };
    let begins = || !bounded() && (0..sentence.len()).any(begins);
    has(WordClass::GainedThing) || verbless && begins() || alone && has(WordClass::Likely)
}

/// Returns true if the time of a past verb can lie in the future: the time of something said, settled or given.
pub(crate) fn leads_ahead(word: &str) -> bool {
    is_in_class(word, WordClass::Settles) || is_in_class(word, WordClass::Gains) || is_planning_verb(word)
}

fn plan_opened_by(word: &str, classes: Classes, next: &str, english: bool) -> Option<Plan> {
    if is_planning_verb(word) {
        return Some(Plan::Booked);
    }
    if !english {
        return None;
    }
    let with_next = match next {
        "up" if classes.has_class(WordClass::WithUp) => Some(Plan::Joined),
        "off" if classes.has_class(WordClass::WithOff) => Some(Plan::Moved),
        "forward" if classes.has_class(WordClass::WithForward) => Some(Plan::Moved),
        _ => None,
    };
    if classes.has_class(WordClass::Invites) {
        Some(Plan::Invited)
    } else if classes.has_class(WordClass::SignsUp) {
        Some(Plan::Joined)
    } else {
        with_next.or_else(|| classes.has_class(WordClass::MovesDate).then_some(Plan::Moved))
    }
}

/// Returns true for verbs of planning. A planned event lies in the future, whenever the planning was: "booked the ferry
/// for June".
fn is_planning_verb(word: &str) -> bool {
    let ends = |end: &str| end.is_empty() || is_in_class(end, WordClass::PlanEnding);
    words_of_class(WordClass::PlanStem)
        .iter()
        .any(|it| word.strip_prefix(it).is_some_and(ends))
}

/// Returns true for words and marks that begin another clause, where the plan no longer counts.
fn separates_plans(word: &str, classes: Classes) -> bool {
    matches!(word, "," | ";" | ":") || classes.has_class(WordClass::PartsPlans)
}

/// Returns true if a day or a month begins at token `i`.
fn is_time(tokens: &[Token<'_>], i: usize) -> bool {
    let class = |i: usize| tokens.get(i).map_or(Class::Other, |it| it.class);
    // "On the 19th" has two words before the day.
    let before = tokens.iter().skip(i).take(2);
    let i = i + before
        .take_while(|it| is_in_class(&it.lower, WordClass::LeadsToDay))
        .count();
    let figure = matches!(class(i), Class::Digits(1..=31, 1..=2)) && matches!(class(i + 1), Class::Month(..));
    figure
        || matches!(
            class(i),
            Class::Weekday(..) | Class::Month(..) | Class::Ordinal(_) | Class::Relative(_) | Class::Season(..)
        )
}
