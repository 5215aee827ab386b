//! Reads the sentences of a turn, clause by clause.

mod clause_checks;
mod clause_starts;
mod drafts;
mod leading_words;
mod naming;
mod people;

use std::ops::Range;

use super::lexicon::{
    ADVERBS, AFTER_COMMENT_VERB, AMBIGUOUS_PASTS, COUPLE_VERBS, ORDER_JOINERS, ORDER_OPENERS, SHARED_SUBJECT_VERBS,
    SUBJECT_PRONOUNS, WITHOUT_I, WITHOUT_I_AM,
};
use super::rules::{Family, apply_rules};
use super::{Statement, Subject, Telling};
use crate::facts::clauses::clause::{Clause, Draft, TimeReading, find_clause_end};
use crate::facts::clauses::subject::{ClauseSubject, continues_with_other_person, is_name, read_subject};
use crate::facts::clauses::token::{Gap, Word, quote_ranges, read_words};
use crate::facts::clauses::verb::{Form, base_of, verbs_with_form};
use crate::facts::clauses::verb_group::{Group, read_verb_group};
use crate::time::{Mention, find_times};
use clause_checks::{find_reported_clause, verb_fits_subject};
use clause_starts::{find_verb_start, is_subordinate, may_begin_clause};
use drafts::{drafts_of_clause, reduce_confidence};
use people::Person;

/// Number of words of the longest sentence that is read.
const WORDS_MAX: usize = 120;
/// Largest number of positions in a sentence at which an instruction is looked for.
const ORDER_STARTS: usize = 8;

/// The state of the reading of a turn.
pub(super) struct Reader<'a> {
    telling: &'a Telling<'a>,
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
    pub(super) fn new(telling: &'a Telling<'a>, question: &str) -> Reader<'a> {
        let ordered = crate::people::role::is_assistant(telling.addressee)
            || crate::people::role::is_user(telling.speaker)
            || telling.speaker.is_empty();
        Reader {
            telling,
            mentions: find_times(telling.text, telling.observed_at),
            quotes: quote_ranges(telling.text),
            ordered,
            answers: !question.is_empty(),
            number: 0,
            here: Vec::new(),
            last: (people::people_in_question(question, telling.speaker), 0),
            kin_without_name: None,
            statements: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Returns the statements, each with the name of the rule that made it.
    pub(super) fn into_statements(self) -> Vec<(Statement, &'static str)> {
        self.statements.into_iter().zip(self.rules).collect()
    }

    /// Reads one sentence; `before` and `next` are its neighbours.
    pub(super) fn read_sentence(&mut self, range: Range<usize>, before: &str, next: &str) {
        self.number += 1;
        if self.last.1 + 2 < self.number {
            self.last.0.clear();
        }
        let words = read_words(self.telling.text, range.clone(), &self.quotes);
        let text = self.telling.text.get(range).unwrap_or_default();
        if words.is_empty() || words.len() > WORDS_MAX {
            return;
        }
        let order = self.find_instruction(&words);
        let words = match order.filter(|_| !words[0].quoted) {
            Some((draft, end)) => {
                self.push_statement(Subject::Speaker, draft, None, None);
                words.into_iter().skip(end).collect()
            }
            None => words,
        };
        if words.is_empty() {
            return;
        }
        let words = super::non_literal::drop_words_after_doubt(words);
        if super::non_literal::states_no_fact(text, &words, before, next) {
            return;
        }
        let corrects = crate::facts::statements::correction::corrects_earlier_statement(&words, self.answers);
        let first = self.statements.len();
        self.read_clauses(&words);
        self.read_named_kin(&words);
        self.kin_by_name(&words);
        self.read_descriptions(&words);
        self.read_placed_homes(&words);
        self.read_possession_names(&words, first);
        self.statements[first..]
            .iter_mut()
            .for_each(|it| it.corrects = corrects);
        let acting = std::mem::take(&mut self.here);
        let people_in_text = people::find_people(self.telling.text, &words, words.len());
        let mut people = people::people_in_statements(&self.statements[first..], &people_in_text);
        people.extend(people::spoken_of(people_in_text, acting));
        if !people.is_empty() {
            if people::mentions_unknown_person(&words) && people.iter().any(|it| !it.acts) {
                people.clear();
            }
            // "Selma loves it, Jonas misses his club.": with two acting persons, the next "he" has no clear referent.
            if people.iter().any(|it| continues_with_other_person(&words, &it.subject)) {
                people.retain(|it| !it.acts);
            }
            self.last = (people, self.number);
        } else if people::mentions_unknown_person(&words) {
            self.last.0.clear();
        }
    }

    /// Returns a standing instruction and the index of the first word after it.
    fn find_instruction(&self, words: &[Word]) -> Option<(Draft, usize)> {
        let opens = words.iter().take_while(|it| it.is_in_list(&ORDER_OPENERS)).count();
        // "Great plan, from now on ...": the words before a break are not part of the instruction.
        let starts = (opens..words.len())
            .filter(|it| *it == opens || words[it - 1].gap != Gap::None || words[it - 1].is_in_list(&ORDER_JOINERS));
        starts.take(ORDER_STARTS).find_map(|start| {
            // "Keep it short, I hate long lists.": the instruction ends before "I".
            let brief = words[start].lower == "keep";
            let goes_on = |it: &usize| brief && words[*it].lower == "i" && words[*it - 1].gap != Gap::None;
            let end = (start + 1..words.len()).find(goes_on).unwrap_or(words.len());
            let draft = apply_rules(
                &self.clause_without_verb(words, start..end),
                &[Family::Instruction],
                self.ordered,
            )?;
            Some((draft, end))
        })
    }

    /// Returns a range of words as a clause without a verb, with the speaker as its subject.
    fn clause_without_verb<'b>(&'b self, words: &'b [Word], part: Range<usize>) -> Clause<'b> {
        Clause {
            text: self.telling.text,
            words,
            mentions: &self.mentions,
            now: self.telling.observed_at.to_utc(),
            from: part.start,
            at: part.start,
            end: part.end,
            who: ClauseSubject::from_subject(Subject::Speaker, part.start),
            group: Group::left_out(part.start),
        }
    }

    fn read_clauses(&mut self, words: &[Word]) {
        let (mut busy, mut main) = (0, None);
        let mut shared: Option<ClauseSubject> = None;
        for from in 0..words.len() {
            if from < busy || !(may_begin_clause(words, from) || main == Some(from)) {
                continue;
            }
            let at = self.skip_to_subject(words, from);
            let phrase = apply_rules(
                &self.clause_without_verb(words, at..words.len()),
                &[Family::Sentence],
                self.ordered,
            );
            if let Some(it) = phrase {
                self.push_statement(Subject::Speaker, it, None, None);
            }
            let Some((who, group)) = self.read_subject_and_verb(words, from, at, shared.as_ref()) else {
                continue;
            };
            let group = self.past_time(words, group);
            let mut end = find_clause_end(words, group.next);
            if is_subordinate(words, at) {
                let subject = |it: &usize| words[*it].is_in_list(&SUBJECT_PRONOUNS);
                main = (group.next + 1..end).find(subject);
                end = main.unwrap_or(end);
            }
            let clause = Clause {
                text: self.telling.text,
                words,
                mentions: &self.mentions,
                now: self.telling.observed_at.to_utc(),
                from,
                at,
                end,
                who,
                group,
            };
            busy = clause.end.max(from + 1);
            shared = Some(clause.who.clone());
            let inner = find_reported_clause(&clause);
            let drafts = if inner.is_some() {
                Vec::new()
            } else {
                drafts_of_clause(&clause, self.ordered)
            };
            let new_drafts: Vec<_> = drafts
                .into_iter()
                .map(|(subject, draft)| {
                    let (since, until) = super::validity::read_validity(&clause, &draft);
                    let draft = reduce_confidence(&clause, &subject, draft);
                    (subject, draft, since, until)
                })
                .collect();
            if clause.who.of.is_empty() {
                self.here.push(Person {
                    subject: clause.who.subject.clone(),
                    role: clause.who.role.clone(),
                    next: clause.who.next,
                    acts: true,
                });
            }
            if let Some(inner) = inner {
                busy = inner;
            }
            for (subject, draft, since, until) in new_drafts {
                self.push_statement(subject, draft, since, until);
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
    fn read_subject_and_verb(
        &self,
        words: &[Word],
        from: usize,
        at: usize,
        shared: Option<&ClauseSubject>,
    ) -> Option<(ClauseSubject, Group)> {
        let word = words.get(at).filter(|it| !it.quoted)?;
        if let Some(who) = self.resolve_subject(words, at) {
            let group = read_verb_group(words, find_verb_start(words, &who), who.is)
                .filter(|it| verb_fits_subject(&who, words, it));
            // "Living in Porto" begins with a capital, like a name.
            return match group {
                Some(group) => Some((who, group)),
                None => self.read_clause_without_subject(words, from, at),
            };
        }
        let conjoined = from > 0 && words[from - 1].is_any_of(&["and", "but"]);
        if let Some(shared) = shared.filter(|_| conjoined && words[from..at].iter().all(|it| it.is_in_list(&ADVERBS))) {
            let third = shared.subject != Subject::Speaker;
            let form = verbs_with_form(&word.lower)
                .iter()
                .any(|it| it.1 == Form::Past || (it.1 == Form::Present && (word.lower.ends_with('s') == third)));
            let auxiliary = word.is_in_list(&SHARED_SUBJECT_VERBS);
            let who = ClauseSubject {
                is: false,
                role: None,
                of: Vec::new(),
                next: at,
                ..shared.clone()
            };
            return (form || auxiliary)
                .then(|| read_verb_group(words, at, false))
                .flatten()
                .filter(|_| shared.of.is_empty())
                .map(|it| (who, it));
        }
        self.read_clause_without_subject(words, from, at)
    }

    /// Reads the subject at `at`: a person, a pronoun that refers to a person, or "who" after a person.
    fn resolve_subject(&self, words: &[Word], at: usize) -> Option<ClauseSubject> {
        let pronoun = match words[at].lower.as_str() {
            "his" => "he",
            "her" => "she",
            it @ ("he" | "she" | "they") => it,
            "who" => {
                let people = people::find_people(self.telling.text, words, at);
                let person = people.into_iter().rfind(|it| it.next == at);
                let who = person.map(|it| ClauseSubject {
                    role: it.role,
                    ..ClauseSubject::from_subject(it.subject, at + 1)
                });
                return who.or_else(|| self.name_before(words, at));
            }
            _ => return read_subject(self.telling.text, words, at, None),
        };
        let here = people::spoken_of(people::find_people(self.telling.text, words, at), self.here.clone());
        let unknown = people::mentions_unknown_person(&words[..at]);
        let referent = people::resolve_pronoun(pronoun, &here, &self.last.0, unknown);
        // "My brother got married. They live in Bergen.": the brother lives there too.
        let couple = pronoun == "they" && words.get(at + 1).is_some_and(|it| it.is_in_list(&COUPLE_VERBS));
        let one = || {
            people::resolve_pronoun("he", &here, &self.last.0, true)
                .or_else(|| people::resolve_pronoun("she", &here, &self.last.0, true))
        };
        if let Some(one) = referent
            .is_none()
            .then(one)
            .flatten()
            .filter(|_| couple && here.iter().all(|it| it.acts))
        {
            return Some(ClauseSubject {
                pronoun: true,
                ..ClauseSubject::from_subject(one, at + 1)
            });
        }
        read_subject(self.telling.text, words, at, referent.as_ref())
    }

    /// Returns the name before "who": "I met Ana, who is a nurse".
    fn name_before(&self, words: &[Word], at: usize) -> Option<ClauseSubject> {
        let word = words.get(at.checked_sub(1)?)?;
        let name = self.telling.text.get(word.range.clone())?;
        let is_name_with_comma = is_name(word) && word.gap == Gap::Comma && !word.lower.ends_with("'s");
        is_name_with_comma.then(|| ClauseSubject::from_subject(Subject::Name(name.to_owned()), at + 1))
    }

    /// Reads a clause without a subject: "Bought a boat.", "Living in Porto now."
    fn read_clause_without_subject(&self, words: &[Word], from: usize, at: usize) -> Option<(ClauseSubject, Group)> {
        let word = &words[at];
        let past = base_of(&word.lower, Form::Past).is_some() && !word.is_in_list(&AMBIGUOUS_PASTS);
        let ing = word.is_in_list(&WITHOUT_I_AM);
        let love =
            word.is_in_list(&WITHOUT_I) && words.get(at + 1).is_some_and(|it| !it.is_in_list(&AFTER_COMMENT_VERB));
        if from != 0 || word.gap != Gap::None || !(past || ing || love) {
            return None;
        }
        let group = read_verb_group(words, at, ing)?;
        let who = ClauseSubject {
            implied: true,
            ..ClauseSubject::from_subject(Subject::Speaker, at)
        };
        Some((who, group))
    }

    fn push_statement(
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
            event: matches!(draft.when, TimeReading::Event | TimeReading::Visit),
            corrects: false,
            confidence: draft.confidence,
        });
    }
}
