//! Reads the sentences of a turn, clause by clause.

mod drafts;
mod naming;
mod people;
mod skip;
mod starts;

use std::ops::Range;

use super::group::{Group, Shape, group};
use super::lexicon::{ADVERBS, ORDER_OPENERS};
use super::rules::{Family, draft};
use super::said::{Draft, Said, When, end};
use super::subject::{Who, another, is_name, subject};
use super::token::{Gap, Word, quotes, words};
use super::verb::{Form, base_of, forms};
use super::{Statement, Subject, Telling};
use crate::time::{Mention, find};
use drafts::{drafts, weighed};
use people::Person;
use starts::{beyond, starts, subordinate};

/// The state of the reading of a turn.
pub(super) struct Reader<'a> {
    told: &'a Telling<'a>,
    mentions: Vec<Mention>,
    quotes: Vec<Range<usize>>,
    /// True if the turn addresses an assistant or nobody, so that its orders count.
    ordered: bool,
    /// True if the turn answers a question.
    answers: bool,
    /// Number of the current sentence, from 1.
    number: usize,
    /// Subjects of the clauses of the current sentence so far.
    here: Vec<Person>,
    /// The persons mentioned last, and the number of the sentence that mentioned them.
    last: (Vec<Person>, usize),
    /// The role of a person whose name was not given yet ("I have a friend"), and the number of that sentence.
    kin_without_name: Option<(&'static str, usize)>,
    pub(super) statements: Vec<Statement>,
    /// For each statement, the name of the rule that made it; empty for statements that no rule file made.
    pub(super) rules: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    /// Returns a reader at the start of a turn; `question` is the question that the turn answers, or empty.
    pub(super) fn new(told: &'a Telling<'a>, question: &str) -> Reader<'a> {
        let ordered =
            crate::role::is_assistant(told.addressee) || crate::role::is_user(told.speaker) || told.speaker.is_empty();
        Reader {
            told,
            mentions: find(told.text, told.observed_at),
            quotes: quotes(told.text),
            ordered,
            answers: !question.is_empty(),
            number: 0,
            here: Vec::new(),
            last: (people::asked(question, told.speaker), 0),
            kin_without_name: None,
            statements: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Returns the statements, each with the name of the rule that made it.
    pub(super) fn stated(self) -> Vec<(Statement, &'static str)> {
        self.statements.into_iter().zip(self.rules).collect()
    }

    /// Reads one sentence; `before` and `next` are its neighbours.
    pub(super) fn sentence(&mut self, range: Range<usize>, before: &str, next: &str) {
        self.number += 1;
        if self.last.1 + 2 < self.number {
            self.last.0.clear();
        }
        let words = words(self.told.text, range.clone(), &self.quotes);
        let text = self.told.text.get(range).unwrap_or_default();
        if words.is_empty() || words.len() > WORDS_MAX {
            return;
        }
        let order = self.order(&words);
        let words = match order.filter(|_| !words[0].quoted) {
            Some((draft, end)) => {
                self.push(Subject::Speaker, draft, None, None);
                words.into_iter().skip(end).collect()
            }
            None => words,
        };
        if words.is_empty() {
            return;
        }
        let words = super::guard::sure(words);
        if super::guard::unreal(text, &words, before, next) {
            return;
        }
        let corrects = super::correction::corrects(&words, self.answers);
        let first = self.statements.len();
        self.clauses(&words);
        self.kin(&words);
        self.kin_by_name(&words);
        self.beside(&words);
        self.placed(&words);
        self.named(&words, first);
        self.statements[first..]
            .iter_mut()
            .for_each(|it| it.corrects = corrects);
        let acting = std::mem::take(&mut self.here);
        let named = people::people(self.told.text, &words, words.len());
        let mut people = people::told(&self.statements[first..], &named);
        people.extend(people::spoken_of(named, acting));
        if !people.is_empty() {
            if people::unknown(&words) && people.iter().any(|it| !it.acts) {
                people.clear();
            }
            // "Selma loves it, Jonas misses his club.": with two acting persons, the next "he" has no clear referent.
            if people.iter().any(|it| another(&words, &it.subject)) {
                people.retain(|it| !it.acts);
            }
            self.last = (people, self.number);
        } else if people::unknown(&words) {
            self.last.0.clear();
        }
    }

    /// Returns a standing instruction and the index of the first word after it.
    fn order(&self, words: &[Word]) -> Option<(Draft, usize)> {
        let opens = words.iter().take_while(|it| it.on(&ORDER_OPENERS)).count();
        // "Great plan, from now on ...": the words before a break are not part of the instruction.
        let starts = (opens..words.len())
            .filter(|it| *it == opens || words[it - 1].gap != Gap::None || words[it - 1].is(&["and", "but", "so"]));
        starts.take(ORDER_STARTS).find_map(|start| {
            // "Keep it short, I hate long lists.": the instruction ends before "I".
            let brief = words[start].lower == "keep";
            let goes_on = |it: &usize| brief && words[*it].lower == "i" && words[*it - 1].gap != Gap::None;
            let end = (start + 1..words.len()).find(goes_on).unwrap_or(words.len());
            let draft = draft(&self.part(words, start..end), &[Family::Instruction], self.ordered)?;
            Some((draft, end))
        })
    }

    /// Returns a range of words as a clause without a verb, with the speaker as its subject.
    fn part<'b>(&'b self, words: &'b [Word], part: Range<usize>) -> Said<'b> {
        Said {
            text: self.told.text,
            words,
            mentions: &self.mentions,
            now: self.told.observed_at.to_utc(),
            from: part.start,
            at: part.start,
            end: part.end,
            who: Who::of(Subject::Speaker, part.start),
            group: Group::left_out(part.start),
        }
    }

    fn clauses(&mut self, words: &[Word]) {
        let (mut busy, mut main) = (0, None);
        let mut shared: Option<Who> = None;
        for from in 0..words.len() {
            if from < busy || !(starts(words, from) || main == Some(from)) {
                continue;
            }
            let at = self.skip(words, from);
            let phrase = draft(&self.part(words, at..words.len()), &[Family::Sentence], self.ordered);
            if let Some(it) = phrase {
                self.push(Subject::Speaker, it, None, None);
            }
            let Some((who, group)) = self.clause(words, from, at, shared.as_ref()) else {
                continue;
            };
            let group = self.past_time(words, group);
            let mut end = end(words, group.next);
            if subordinate(words, at) {
                let subject = |it: &usize| words[*it].is(&["i", "we", "he", "she", "they"]);
                main = (group.next + 1..end).find(subject);
                end = main.unwrap_or(end);
            }
            let said = Said {
                text: self.told.text,
                words,
                mentions: &self.mentions,
                now: self.told.observed_at.to_utc(),
                from,
                at,
                end,
                who,
                group,
            };
            busy = said.end.max(from + 1);
            shared = Some(said.who.clone());
            let inner = reported(&said);
            let drafts = if inner.is_some() {
                Vec::new()
            } else {
                drafts(&said, self.ordered)
            };
            let made: Vec<_> = drafts
                .into_iter()
                .map(|(subject, draft)| {
                    let (since, until) = super::when::when(&said, &draft);
                    let draft = weighed(&said, &subject, draft);
                    (subject, draft, since, until)
                })
                .collect();
            if said.who.of.is_empty() {
                self.here.push(Person {
                    subject: said.who.subject.clone(),
                    role: said.who.role.clone(),
                    next: said.who.next,
                    acts: true,
                });
            }
            if let Some(inner) = inner {
                busy = inner;
            }
            for (subject, draft, since, until) in made {
                self.push(subject, draft, since, until);
            }
        }
    }

    /// Moves the end of a verb group past a time: other languages put it between the verb and its object, "habe seit
    /// Mai einen Hund".
    fn past_time(&self, words: &[Word], group: Group) -> Group {
        let Some(first) = words.get(group.next).filter(|it| it.foreign) else {
            return group;
        };
        let time = self.mentions.iter().find(|it| it.range.contains(&first.range.start));
        let next = time.map_or(group.next, |time| {
            let inside = |it: &&Word| it.range.start < time.range.end;
            group.next + words[group.next..].iter().take_while(inside).count()
        });
        let next = if next < words.len() { next } else { group.next };
        Group { next, ..group }
    }

    /// Reads subject and verb at `at`. A verb alone takes the subject of the clause before it; at the start of a
    /// sentence, it takes the speaker.
    fn clause(&self, words: &[Word], from: usize, at: usize, shared: Option<&Who>) -> Option<(Who, Group)> {
        let word = words.get(at).filter(|it| !it.quoted)?;
        if let Some(who) = self.whom(words, at) {
            let group = group(words, beyond(words, &who), who.is).filter(|it| fits(&who, words, it));
            // "Living in Porto" begins with a capital, like a name.
            return match group {
                Some(group) => Some((who, group)),
                None => self.elliptic(words, from, at),
            };
        }
        let conjoined = from > 0 && words[from - 1].is(&["and", "but"]);
        if let Some(shared) = shared.filter(|_| conjoined && words[from..at].iter().all(|it| it.on(&ADVERBS))) {
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

    /// Reads the subject at `at`: a person, a pronoun that refers to a person, or "who" after a person.
    fn whom(&self, words: &[Word], at: usize) -> Option<Who> {
        let pronoun = match words[at].lower.as_str() {
            "his" => "he",
            "her" => "she",
            it @ ("he" | "she" | "they") => it,
            "who" => {
                let people = people::people(self.told.text, words, at);
                let person = people.into_iter().rfind(|it| it.next == at);
                let who = person.map(|it| Who {
                    role: it.role,
                    ..Who::of(it.subject, at + 1)
                });
                return who.or_else(|| self.name_before(words, at));
            }
            _ => return subject(self.told.text, words, at, None),
        };
        let here = people::spoken_of(people::people(self.told.text, words, at), self.here.clone());
        let unknown = people::unknown(&words[..at]);
        let meant = people::meant(pronoun, &here, &self.last.0, unknown);
        // "My brother got married. They live in Bergen.": the brother lives there too.
        let couple = pronoun == "they" && words.get(at + 1).is_some_and(|it| it.is(&["live", "moved", "are"]));
        let one = || {
            people::meant("he", &here, &self.last.0, true).or_else(|| people::meant("she", &here, &self.last.0, true))
        };
        if let Some(one) = meant
            .is_none()
            .then(one)
            .flatten()
            .filter(|_| couple && here.iter().all(|it| it.acts))
        {
            return Some(Who {
                pronoun: true,
                ..Who::of(one, at + 1)
            });
        }
        subject(self.told.text, words, at, meant.as_ref())
    }

    /// Returns the name before "who": "I met Ana, who is a nurse".
    fn name_before(&self, words: &[Word], at: usize) -> Option<Who> {
        let word = words.get(at.checked_sub(1)?)?;
        let name = self.told.text.get(word.range.clone())?;
        let named = is_name(word) && word.gap == Gap::Comma && !word.lower.ends_with("'s");
        named.then(|| Who::of(Subject::Name(name.to_owned()), at + 1))
    }

    /// Reads a clause without a subject: "Bought a boat.", "Living in Porto now."
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

    fn push(
        &mut self,
        subject: Subject,
        draft: Draft,
        since: Option<domain::time::TimeSpan>,
        until: Option<chrono::DateTime<chrono::Utc>>,
    ) {
        self.rules.push(draft.rule);
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

/// Returns true if the verb can belong to the subject; a name and a bare verb ("Ana live") do not go together.
fn fits(who: &Who, words: &[Word], group: &Group) -> bool {
    if group.shape == Shape::Modal && !group.can {
        return false;
    }
    let they = who.pronoun && words.get(who.next - 1).is_some_and(|it| it.lower == "they");
    let third = matches!(&who.subject, Subject::Name(_)) && who.role.is_none() && !they;
    let last = words
        .get(group.next.saturating_sub(1))
        .map_or("", |it| it.lower.as_str());
    !(third && group.shape == Shape::Present && !last.ends_with('s') && group.positive)
}

/// "Ben says he lives in Oslo": returns the index at which the reported clause begins; `None` if the verb is not "say".
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

/// Number of words of the longest sentence that is read.
const WORDS_MAX: usize = 120;
/// Largest number of positions in a sentence at which an instruction is looked for.
const ORDER_STARTS: usize = 8;
