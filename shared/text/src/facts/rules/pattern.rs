//! Patterns over the words of a clause; the documentation of [`super`] describes their syntax.

use std::collections::{HashMap, HashSet};

use super::super::lexicon::{MORE_FOOD, NO_FOOD, NO_NAMES, is_number, read_word_list};
use crate::facts::clauses::clause::Clause;
use crate::facts::clauses::token::Gap;
use crate::facts::clauses::verb::{Form, base_of, may_be_base};

/// Alternative sequences of parts.
pub(super) type Choice = Vec<Vec<Part>>;
/// Named patterns.
pub(super) type Phrases = HashMap<&'static str, Choice>;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Word(&'static str),
    Class(Class),
    /// At most `most` words, none of the class. Unless the number is unlimited, there is no pause between them.
    Gap {
        most: usize,
        but: Option<Class>,
    },
    One,
    Choice(Choice),
    /// Requires that the pattern matches at this position, or that it does not.
    Ahead(bool, Choice),
    Mark(Choice),
    Object(Extent, Choice),
    Pause,
    End,
}

/// How far an object extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// To the end of the phrase or to the first time expression in it.
    Phrase,
    /// To the end of the phrase.
    Timed,
    /// To the end of the inner pattern.
    Exact,
    /// To the end of the clause.
    Rest,
}

/// A class of words: a list, or words with a common property.
#[derive(Clone, Debug)]
pub(super) enum Class {
    /// Whole words, and endings of words.
    List(HashSet<&'static str>, Vec<&'static str>),
    Name,
    Capital,
    Number,
    Figure,
    Food,
    Foreign,
    Ing,
    Owner,
    Plural,
    Stop,
    Time,
    Verb,
}

/// The position that a pattern has reached, and the words that it has captured so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) at: usize,
    pub(super) object: Option<(std::ops::Range<usize>, Extent)>,
    pub(super) mark: Option<std::ops::Range<usize>>,
}

/// Returns the pattern that a text describes; an error says what is wrong with it.
pub(super) fn parse_pattern(text: &'static str, phrases: &Phrases) -> Result<Choice, String> {
    let mut source = Source { rest: text, phrases };
    let choice = source.parse_choice("")?;
    if source.rest.is_empty() {
        Ok(choice)
    } else {
        Err(format!("`{}` closes nothing", source.rest))
    }
}

struct Source<'a> {
    rest: &'static str,
    phrases: &'a Phrases,
}

impl Source<'_> {
    /// Returns the next sign or word of the source and moves past it; empty at the end.
    fn next_token(&mut self) -> &'static str {
        const SIGNS: [char; 11] = ['(', ')', '|', '[', ']', '{', '}', '!', '&', '=', '/'];
        let text = self.rest.trim_start();
        let length = match text.get(..2) {
            Some("{+" | "{-" | "{>") => 2,
            _ if text.starts_with(SIGNS) => 1,
            _ => text
                .find(|it: char| it.is_whitespace() || "()|[]{}/".contains(it))
                .unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(length);
        self.rest = rest.trim_start();
        token
    }

    fn parse_choice(&mut self, close: &str) -> Result<Choice, String> {
        let mut out: Choice = vec![Vec::new()];
        loop {
            match self.next_token() {
                it if it == close => return Ok(out),
                "" => return Err(format!("`{close}` is missing")),
                "|" => out.push(Vec::new()),
                token => {
                    let part = self.parse_part(token)?;
                    if let Some(last) = out.last_mut() {
                        last.push(part);
                    }
                }
            }
        }
    }

    fn parse_part(&mut self, token: &'static str) -> Result<Part, String> {
        Ok(match token {
            "(" => Part::Choice(self.parse_choice(")")?),
            "[" => {
                let mut choice = self.parse_choice("]")?;
                choice.push(Vec::new());
                Part::Choice(choice)
            }
            "{" => Part::Object(Extent::Phrase, self.parse_choice("}")?),
            "{+" => Part::Object(Extent::Timed, self.parse_choice("}")?),
            "{-" => Part::Object(Extent::Exact, self.parse_choice("}")?),
            "{>" => Part::Object(Extent::Rest, self.parse_choice("}")?),
            "!" => Part::Ahead(false, vec![vec![self.parse_single_part()?]]),
            "&" => Part::Ahead(true, vec![vec![self.parse_single_part()?]]),
            "=" => Part::Mark(vec![vec![self.parse_single_part()?]]),
            "/" => Part::Pause,
            "$" => Part::End,
            "*" => Part::One,
            "**" => Part::Gap {
                most: usize::MAX,
                but: None,
            },
            ")" | "]" | "}" => return Err(format!("`{token}` closes nothing")),
            it if it.starts_with('*') => {
                let (most, but) = it[1..]
                    .split_once('!')
                    .map_or((&it[1..], None), |it| (it.0, Some(it.1)));
                Part::Gap {
                    most: most.parse().map_err(|_| format!("`{it}` is not a gap"))?,
                    but: but.map(parse_class).transpose()?,
                }
            }
            it if it.starts_with('<') => match it.get(1..it.len() - 1).and_then(|it| self.phrases.get(it)) {
                Some(phrase) => Part::Choice(phrase.clone()),
                None => Part::Class(parse_class(it)?),
            },
            it if it.contains(char::is_uppercase) => return Err(format!("`{it}` is not in lower case")),
            it => Part::Word(it),
        })
    }

    fn parse_single_part(&mut self) -> Result<Part, String> {
        let token = self.next_token();
        self.parse_part(token)
    }
}

/// Returns the class that is written as `<name>`.
fn parse_class(written: &'static str) -> Result<Class, String> {
    let name = written.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let name = name.ok_or_else(|| format!("`{written}` is not a class"))?;
    Ok(match name {
        "name" => Class::Name,
        "capital" => Class::Capital,
        "number" => Class::Number,
        "figure" => Class::Figure,
        "food" => Class::Food,
        "foreign" => Class::Foreign,
        "ing" => Class::Ing,
        "owner" => Class::Owner,
        "plural" => Class::Plural,
        "stop" => Class::Stop,
        "time" => Class::Time,
        "verb" => Class::Verb,
        name => match read_word_list(name) {
            words if words.is_empty() => return Err(format!("there is no class `{name}`")),
            words => {
                let endings = words.iter().filter_map(|it| it.strip_prefix('*')).collect();
                Class::List(words, endings)
            }
        },
    })
}

/// Returns all states in which the pattern can match from `start` on, shorter gaps first.
pub(super) fn find_matches(clause: &Clause<'_>, choice: &Choice, start: &State) -> Vec<State> {
    let mut out = Vec::new();
    for parts in choice {
        let mut states = vec![start.clone()];
        for part in parts {
            let mut next: Vec<State> = Vec::new();
            for state in states.iter().flat_map(|it| match_part(clause, part, it)) {
                if !next.contains(&state) {
                    next.push(state);
                }
            }
            states = next;
        }
        out.append(&mut states);
    }
    out
}

fn match_part(clause: &Clause<'_>, part: &Part, state: &State) -> Vec<State> {
    let at = state.at;
    let only = |holds: bool, words: usize| {
        let state = State {
            at: at + words,
            ..state.clone()
        };
        if holds { vec![state] } else { Vec::new() }
    };
    match part {
        Part::Word(word) => only(clause.word_at(at) == *word, 1),
        Part::Class(class) => only(at < clause.end && is_in_class(clause, class, at), 1),
        Part::One => only(at < clause.end, 1),
        Part::Gap { most, but } => {
            let free = *most == usize::MAX;
            let open = |it: &usize| {
                let pause = clause.words.get(*it).is_none_or(|it| it.gap != Gap::None);
                (free || !pause) && !but.as_ref().is_some_and(|class| is_in_class(clause, class, *it))
            };
            let words = (at..clause.end).take(*most).take_while(open).count();
            (at..=at + words).map(|at| State { at, ..state.clone() }).collect()
        }
        Part::Choice(choice) => find_matches(clause, choice, state),
        Part::Ahead(wanted, choice) => only(find_matches(clause, choice, state).is_empty() != *wanted, 0),
        Part::Mark(choice) => {
            let marked = find_matches(clause, choice, state).into_iter();
            let mark = |it: State| State {
                mark: Some(at..it.at),
                ..it
            };
            marked.map(mark).collect()
        }
        Part::Object(extent, choice) => match_object(clause, *extent, choice, state),
        Part::Pause => {
            let before = at.checked_sub(1).and_then(|it| clause.words.get(it));
            only(at >= clause.end || before.is_some_and(|it| it.gap != Gap::None), 0)
        }
        Part::End => only(at >= clause.end, 0),
    }
}

/// Returns the states after an object that begins with `choice`.
fn match_object(clause: &Clause<'_>, extent: Extent, choice: &Choice, state: &State) -> Vec<State> {
    let inside = find_matches(clause, choice, state);
    let object_words = match extent {
        Extent::Phrase | Extent::Timed => clause.phrase_range(state.at, extent == Extent::Timed),
        Extent::Rest => (state.at < clause.end).then_some(state.at..clause.end),
        Extent::Exact => {
            let exact = inside.into_iter().filter(|it| it.at > state.at);
            let exact = exact.map(|it| State {
                object: Some((state.at..it.at, extent)),
                ..it
            });
            return exact.collect();
        }
    };
    let Some(object_words) = object_words else {
        return Vec::new();
    };
    let first = inside.into_iter().find(|it| it.at <= object_words.end);
    let taken = first.map(|it| State {
        at: object_words.end,
        object: Some((object_words, extent)),
        ..it
    });
    taken.into_iter().collect()
}

/// Returns true if the word at an index belongs to a class.
fn is_in_class(clause: &Clause<'_>, class: &Class, at: usize) -> bool {
    let word = clause.word_at(at);
    let Some(token) = clause.words.get(at) else {
        return false;
    };
    match class {
        Class::List(words, endings) => words.contains(word) || endings.iter().any(|it| word.ends_with(it)),
        Class::Name => clause.is_capitalised_at(at) && !NO_NAMES.contains(word),
        Class::Capital => clause.is_capitalised_at(at),
        Class::Number => is_number(word),
        Class::Figure => word.starts_with(|it: char| it.is_ascii_digit()),
        Class::Food => is_food(word),
        Class::Foreign => token.foreign,
        Class::Ing => word.len() > 4 && word.ends_with("ing"),
        Class::Owner => word.ends_with("'s"),
        Class::Plural => {
            word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|it| word.ends_with(it))
        }
        Class::Stop => crate::is_stop(word),
        Class::Time => clause.times_in_clause().any(|it| it.range.contains(&token.range.start)),
        Class::Verb => may_be_base(word) || base_of(word, Form::Present).is_some(),
    }
}

/// Returns true if a noun names food or a drink.
fn is_food(noun: &str) -> bool {
    let nouns = crate::Nouns::builtin();
    let is = |kind: &str| {
        nouns
            .find_kind(kind)
            .is_some_and(|it| nouns.is_of_kind(&it, &[noun.to_owned()]))
    };
    let plain = !crate::is_stop(noun) && !NO_FOOD.contains(noun);
    plain && (MORE_FOOD.contains(noun) || is("food") || is("foodstuff"))
}
