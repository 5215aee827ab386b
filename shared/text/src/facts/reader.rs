//! Goes through the sentences of a turn, clause by clause.

mod naming;

use std::ops::Range;

use super::group::{Group, Shape, group};
use super::lexicon::{FILLERS, REPORTS};
use super::said::{Draft, Said, When, end};
use super::subject::{Who, another, is_name, subject};
use super::token::{Gap, Word, quotes, words};
use super::verb::{Form, base_of, forms};
use super::{Statement, Subject, Telling};
use crate::time::{Mention, find};

/// What a turn has stated so far.
pub(super) struct Reader<'a> {
    told: &'a Telling<'a>,
    mentions: Vec<Mention>,
    quotes: Vec<Range<usize>>,
    /// It is said to an assistant, or to nobody.
    ordered: bool,
    /// Number of the sentence.
    number: usize,
    /// The last one who was spoken of, and in which sentence.
    last: Option<(Subject, usize)>,
    pub(super) statements: Vec<Statement>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(told: &'a Telling<'a>) -> Reader<'a> {
        let ordered =
            crate::role::is_assistant(told.addressee) || crate::role::is_user(told.speaker) || told.speaker.is_empty();
        Reader {
            told,
            mentions: find(told.text, told.observed_at),
            quotes: quotes(told.text),
            ordered,
            number: 0,
            last: None,
            statements: Vec::new(),
        }
    }

    /// Reads one sentence; `before` and `next` stand around it.
    pub(super) fn sentence(&mut self, range: Range<usize>, before: &str, next: &str) {
        self.number += 1;
        if self.last.as_ref().is_some_and(|it| it.1 + 2 < self.number) {
            self.last = None;
        }
        let words = words(self.told.text, range.clone(), &self.quotes);
        let text = self.told.text.get(range).unwrap_or_default();
        if words.is_empty() || words.len() > WORDS_MAX {
            return;
        }
        if let Some(draft) =
            super::instruction::instruction(self.told.text, &words, self.ordered).filter(|_| !words[0].quoted)
        {
            self.push(Subject::Speaker, draft, None, None);
            return;
        }
        if super::guard::unreal(text, &words, before, next) {
            return;
        }
        let corrects = super::correction::OPENERS.iter().any(|it| {
            let opening: Vec<&str> = it.split(' ').collect();
            opening
                .iter()
                .enumerate()
                .all(|(at, it)| words.get(at).is_some_and(|word| word.lower == *it))
                && words.get(opening.len() - 1).is_some_and(|it| it.gap != Gap::None)
        }) || words[0].lower == "actually";
        let first = self.statements.len();
        self.clauses(&words);
        self.kin(&words);
        self.named(&words, first);
        self.statements[first..]
            .iter_mut()
            .for_each(|it| it.corrects = corrects);
        self.last = self.last.take().filter(|it| !another(&words, &it.0));
    }

    fn clauses(&mut self, words: &[Word]) {
        let mut busy = 0;
        let mut shared: Option<Who> = None;
        for from in 0..words.len() {
            if from < busy || !starts(words, from) {
                continue;
            }
            let at = self.skip(words, from);
            if let Some(object) = super::own::of_us(words, at) {
                self.push(
                    Subject::Speaker,
                    Draft::new(domain::fact::Aspect::Count, "household has", object).sure(0.8),
                    None,
                    None,
                );
            }
            let Some((who, group)) = self.clause(words, from, at, shared.as_ref()) else {
                continue;
            };
            let said = Said {
                text: self.told.text,
                words,
                mentions: &self.mentions,
                now: self.told.observed_at.to_utc(),
                from,
                at,
                end: end(words, group.next),
                who,
                group,
            };
            busy = said.end.max(from + 1);
            shared = Some(said.who.clone());
            let inner = reported(&said);
            let drafts = if inner.is_some() { Vec::new() } else { drafts(&said) };
            let made: Vec<_> = drafts
                .into_iter()
                .map(|(subject, draft)| {
                    let (since, until) = super::when::when(&said, &draft);
                    let draft = weighed(&said, &subject, draft);
                    (subject, draft, since, until)
                })
                .collect();
            let subject = said.who.subject.clone();
            if subject != Subject::Speaker && said.who.of.is_empty() {
                self.last = Some((subject, self.number));
            }
            if let Some(inner) = inner {
                busy = inner;
            }
            for (subject, draft, since, until) in made {
                self.push(subject, draft, since, until);
            }
        }
    }

    /// Reads subject and verb at `at`; a verb alone takes the subject of the clause before it, or at the start the speaker.
    fn clause(&self, words: &[Word], from: usize, at: usize, shared: Option<&Who>) -> Option<(Who, Group)> {
        let word = words.get(at).filter(|it| !it.quoted)?;
        if let Some(who) = subject(self.told.text, words, at, self.last.as_ref().map(|it| &it.0)) {
            let group = group(words, who.next, who.is).filter(|it| fits(&who, words, it));
            // "Living in Porto" begins like a name.
            return match group {
                Some(group) => Some((who, group)),
                None => self.elliptic(words, from, at),
            };
        }
        let conjoined = from > 0 && words[from - 1].is(&["and", "but"]);
        if let Some(shared) = shared.filter(|_| conjoined && at == from) {
            let third = shared.subject != Subject::Speaker;
            let form = forms(&word.lower)
                .iter()
                .any(|it| it.1 == Form::Past || (it.1 == Form::Present && (word.lower.ends_with('s') == third)));
            let auxiliary = word.is(&[
                "am", "is", "are", "have", "has", "do", "does", "never", "always", "usually", "now", "also",
            ]);
            let who = Who {
                is: false,
                role: None,
                of: Vec::new(),
                next: at,
                ..shared.clone()
            };
            return (form || auxiliary)
                .then(|| group(words, at, false))
                .flatten()
                .filter(|_| shared.of.is_empty())
                .map(|it| (who, it));
        }
        self.elliptic(words, from, at)
    }

    /// "Bought a boat.", "Living in Porto now."
    fn elliptic(&self, words: &[Word], from: usize, at: usize) -> Option<(Who, Group)> {
        let word = &words[at];
        let past = base_of(&word.lower, Form::Past).is_some()
            && !word.is(&["read", "lost", "left", "had", "did", "made", "said", "thought", "stood"]);
        let ing = word.is(&[
            "living", "working", "studying", "allergic", "moving", "planning", "thinking", "training",
        ]);
        let love = word.is(&["love", "hate", "prefer"])
            && words
                .get(at + 1)
                .is_some_and(|it| !it.is(&["the", "a", "that", "this", "to", "how"]));
        if from != 0 || word.gap != Gap::None || !(past || ing || love) {
            return None;
        }
        let group = group(words, at, ing)?;
        let who = Who {
            implied: true,
            ..Who::of(Subject::Speaker, at)
        };
        Some((who, group))
    }

    /// Skips what stands before a subject: small words, times, who is called.
    fn skip(&self, words: &[Word], from: usize) -> usize {
        let mut at = from;
        while let Some(word) = words.get(at) {
            let mention = |at: usize| {
                let word = words.get(at)?;
                self.mentions
                    .iter()
                    .find(|it| it.range.start <= word.range.start && word.range.start < it.range.end)
            };
            let lower = word.lower.as_str();
            let next = words.get(at + 1).map_or("", |it| it.lower.as_str());
            if let Some(mention) = mention(at).or_else(|| {
                word.is(&["in", "on", "since", "at", "from", "for", "by", "as"])
                    .then(|| mention(at + 1))
                    .flatten()
            }) {
                at += words[at..]
                    .iter()
                    .take_while(|it| it.range.start < mention.range.end)
                    .count();
            } else if word.is(&["every", "each"]) || (lower == "on" && next.ends_with('s')) {
                let comma = words[at..].iter().take(5).position(|it| it.gap == Gap::Comma);
                let person = words[at..]
                    .iter()
                    .take(6)
                    .position(|it| it.is(&["i", "we", "my", "he", "she", "they"]));
                // "Every evening Ana and I" is said of Ana too.
                let person = person.map(|it| {
                    if it > 2 && words[at + it - 1].lower == "and" {
                        it - 2
                    } else {
                        it
                    }
                });
                match comma.map(|it| it + 1).or(person) {
                    Some(step) if step > 0 => at += step,
                    _ => break,
                }
            } else if let Some(phrase) = LEADS.iter().find(|it| {
                it.iter()
                    .enumerate()
                    .all(|(n, part)| words.get(at + n).is_some_and(|it| it.lower == *part))
            }) {
                at += phrase.len();
            } else if word.on(&FILLERS) || (is_name(word) && word.gap == Gap::Comma && at == from) {
                at += 1;
            } else {
                break;
            }
        }
        at
    }

    fn push(
        &mut self,
        subject: Subject,
        draft: Draft,
        since: Option<domain::time::TimeSpan>,
        until: Option<chrono::DateTime<chrono::Utc>>,
    ) {
        self.statements.push(Statement {
            subject,
            predicate: draft.predicate,
            object: draft.object,
            aspect: draft.aspect,
            positive: draft.positive,
            since,
            until,
            ended: draft.ended,
            event: matches!(draft.when, When::Event | When::Visit),
            corrects: false,
            confidence: draft.confidence,
        });
    }
}

/// Says whether the verb can belong to the subject: "I lives" and a name before a bare verb do not go together.
fn fits(who: &Who, words: &[Word], group: &Group) -> bool {
    if group.shape == Shape::Modal && !group.can {
        return false;
    }
    let third = matches!(&who.subject, Subject::Name(_)) && who.role.is_none();
    let last = words
        .get(group.next.saturating_sub(1))
        .map_or("", |it| it.lower.as_str());
    !(third && group.shape == Shape::Present && !last.ends_with('s') && group.positive)
}

/// "Ben says he lives in Oslo": returns where the clause that is told begins, if its subject is who tells it.
fn reported(said: &Said<'_>) -> Option<usize> {
    if said.group.base != "say" {
        return None;
    }
    let mut at = said.group.next;
    while said.words.get(at).is_some_and(|it| it.is(&["that", "to", "me", "us"])) {
        at += 1;
    }
    Some(at)
}

fn drafts(said: &Said<'_>) -> Vec<(Subject, Draft)> {
    let own = said.who.subject.clone();
    if !said.who.of.is_empty() {
        return super::thing::thing(said).into_iter().collect();
    }
    let rules = [super::thing::called, super::state::kin_of, super::thing::introduced];
    if let Some(draft) = rules.iter().find_map(|it| it(said)) {
        return vec![(Subject::Speaker, draft)];
    }
    let rules = [
        super::habit::habit,
        super::preference::preference,
        super::place::place,
        super::work::work,
        super::own::own,
        super::state::state,
        super::plan::plan,
        super::activity::activity,
    ];
    let first = rules.iter().find_map(|it| it(said));
    let second = super::place::moved_on(said);
    first.into_iter().chain(second).map(|it| (own.clone(), it)).collect()
}

/// What is told of others, or without its subject, is less sure.
fn weighed(said: &Said<'_>, subject: &Subject, draft: Draft) -> Draft {
    let other = if *subject == Subject::Speaker { 1.0 } else { 0.8 };
    let guess = match (said.who.pronoun, said.who.implied) {
        (true, _) => 0.85,
        (_, true) => 0.85,
        (false, false) => 1.0,
    };
    let confidence = draft.confidence * other * guess;
    draft.sure(confidence)
}

/// Says whether a clause may begin at a word.
fn starts(words: &[Word], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|it| &words[it]) else {
        return true;
    };
    if before.on(&REPORTS) {
        return before.lower == "says" && before.gap == Gap::None;
    }
    before.gap != Gap::None
        || before.is(&[
            "and", "but", "so", "because", "although", "though", "while", "plus", "cause", "cos", "that",
        ]) && !quoting(words, at)
}

/// "He said that I ...": what follows "that" is somebody's words.
fn quoting(words: &[Word], at: usize) -> bool {
    words[at - 1].lower == "that"
}

/// Longest sentence that is read, in words.
const WORDS_MAX: usize = 120;
const LEADS: &[&[&str]] = &[
    &["to", "be", "honest"],
    &["to", "be", "fair"],
    &["in", "fact"],
    &["by", "the", "way"],
    &["of", "course"],
    &["right", "now"],
    &["for", "the", "record"],
    &["fun", "fact"],
    &["as", "for", "me"],
    &["turns", "out"],
    &["good", "news"],
    &["bad", "news"],
    &["big", "news"],
    &["these", "days"],
    &["at", "the", "moment"],
    &["for", "me"],
    &["at", "home"],
    &["at", "work"],
    &["thank", "you"],
    &["my", "mistake"],
    &["my", "bad"],
    &["scratch", "that"],
    &["guess", "what"],
    &["me", "too"],
    &["not", "really"],
    &["so", "far"],
];
