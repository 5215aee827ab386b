//! Patterns over the words of a clause; the documentation of [`super`] describes their syntax.

use std::collections::{HashMap, HashSet};

use super::super::lexicon::{NO_NAMES, is_number, list};
use super::super::said::Said;
use super::super::token::Gap;
use super::super::verb::{Form, base_of, may_be_base};

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
    /// To the end of the phrase or to the first time in it.
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
pub(super) fn read(text: &'static str, phrases: &Phrases) -> Result<Choice, String> {
    let mut source = Source { rest: text, phrases };
    let choice = source.choice("")?;
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
    fn next(&mut self) -> &'static str {
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

    fn choice(&mut self, close: &str) -> Result<Choice, String> {
        let mut out: Choice = vec![Vec::new()];
        loop {
            match self.next() {
                it if it == close => return Ok(out),
                "" => return Err(format!("`{close}` is missing")),
                "|" => out.push(Vec::new()),
                token => {
                    let part = self.part(token)?;
                    if let Some(last) = out.last_mut() {
                        last.push(part);
                    }
                }
            }
        }
    }

    fn part(&mut self, token: &'static str) -> Result<Part, String> {
        Ok(match token {
            "(" => Part::Choice(self.choice(")")?),
            "[" => {
                let mut choice = self.choice("]")?;
                choice.push(Vec::new());
                Part::Choice(choice)
            }
            "{" => Part::Object(Extent::Phrase, self.choice("}")?),
            "{+" => Part::Object(Extent::Timed, self.choice("}")?),
            "{-" => Part::Object(Extent::Exact, self.choice("}")?),
            "{>" => Part::Object(Extent::Rest, self.choice("}")?),
            "!" => Part::Ahead(false, vec![vec![self.single()?]]),
            "&" => Part::Ahead(true, vec![vec![self.single()?]]),
            "=" => Part::Mark(vec![vec![self.single()?]]),
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
                    most: most.parse().map_err(|_| format!("`{it}` is no gap"))?,
                    but: but.map(class).transpose()?,
                }
            }
            it if it.starts_with('<') => match it.get(1..it.len() - 1).and_then(|it| self.phrases.get(it)) {
                Some(phrase) => Part::Choice(phrase.clone()),
                None => Part::Class(class(it)?),
            },
            it if it.contains(char::is_uppercase) => return Err(format!("`{it}` is not in lower case")),
            it => Part::Word(it),
        })
    }

    fn single(&mut self) -> Result<Part, String> {
        let token = self.next();
        self.part(token)
    }
}

/// Returns the class that is written as `<name>`.
fn class(written: &'static str) -> Result<Class, String> {
    let name = written.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
    let name = name.ok_or_else(|| format!("`{written}` is no class"))?;
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
        name => match list(name) {
            words if words.is_empty() => return Err(format!("there is no class `{name}`")),
            words => {
                let endings = words.iter().filter_map(|it| it.strip_prefix('*')).collect();
                Class::List(words, endings)
            }
        },
    })
}

/// Returns all states in which the pattern can match from `start` on, shorter gaps first.
pub(super) fn matches(said: &Said<'_>, choice: &Choice, start: &State) -> Vec<State> {
    let mut out = Vec::new();
    for parts in choice {
        let mut states = vec![start.clone()];
        for part in parts {
            let mut next: Vec<State> = Vec::new();
            for state in states.iter().flat_map(|it| step(said, part, it)) {
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

fn step(said: &Said<'_>, part: &Part, state: &State) -> Vec<State> {
    let at = state.at;
    let only = |holds: bool, words: usize| {
        let state = State {
            at: at + words,
            ..state.clone()
        };
        if holds { vec![state] } else { Vec::new() }
    };
    match part {
        Part::Word(word) => only(said.at(at) == *word, 1),
        Part::Class(class) => only(at < said.end && is(said, class, at), 1),
        Part::One => only(at < said.end, 1),
        Part::Gap { most, but } => {
            let free = *most == usize::MAX;
            let open = |it: &usize| {
                let pause = said.words.get(*it).is_none_or(|it| it.gap != Gap::None);
                (free || !pause) && !but.as_ref().is_some_and(|class| is(said, class, *it))
            };
            let words = (at..said.end).take(*most).take_while(open).count();
            (at..=at + words).map(|at| State { at, ..state.clone() }).collect()
        }
        Part::Choice(choice) => matches(said, choice, state),
        Part::Ahead(wanted, choice) => only(matches(said, choice, state).is_empty() != *wanted, 0),
        Part::Mark(choice) => {
            let marked = matches(said, choice, state).into_iter();
            let mark = |it: State| State {
                mark: Some(at..it.at),
                ..it
            };
            marked.map(mark).collect()
        }
        Part::Object(extent, choice) => object(said, *extent, choice, state),
        Part::Pause => {
            let before = at.checked_sub(1).and_then(|it| said.words.get(it));
            only(at >= said.end || before.is_some_and(|it| it.gap != Gap::None), 0)
        }
        Part::End => only(at >= said.end, 0),
    }
}

/// Returns the states after an object that begins with `choice`.
fn object(said: &Said<'_>, extent: Extent, choice: &Choice, state: &State) -> Vec<State> {
    let inside = matches(said, choice, state);
    let whole = match extent {
        Extent::Phrase | Extent::Timed => said.phrase(state.at, extent == Extent::Timed),
        Extent::Rest => (state.at < said.end).then_some(state.at..said.end),
        Extent::Exact => {
            let exact = inside.into_iter().filter(|it| it.at > state.at);
            let exact = exact.map(|it| State {
                object: Some((state.at..it.at, extent)),
                ..it
            });
            return exact.collect();
        }
    };
    let Some(whole) = whole else {
        return Vec::new();
    };
    let first = inside.into_iter().find(|it| it.at <= whole.end);
    let taken = first.map(|it| State {
        at: whole.end,
        object: Some((whole, extent)),
        ..it
    });
    taken.into_iter().collect()
}

/// Returns true if the word at an index belongs to a class.
fn is(said: &Said<'_>, class: &Class, at: usize) -> bool {
    let word = said.at(at);
    let Some(whole) = said.words.get(at) else {
        return false;
    };
    match class {
        Class::List(words, endings) => words.contains(word) || endings.iter().any(|it| word.ends_with(it)),
        Class::Name => said.capital(at) && !NO_NAMES.contains(word),
        Class::Capital => said.capital(at),
        Class::Number => is_number(word),
        Class::Figure => word.starts_with(|it: char| it.is_ascii_digit()),
        Class::Food => is_food(word),
        Class::Foreign => whole.foreign,
        Class::Ing => word.len() > 4 && word.ends_with("ing"),
        Class::Owner => word.ends_with("'s"),
        Class::Plural => {
            word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|it| word.ends_with(it))
        }
        Class::Stop => crate::is_stop(word),
        Class::Time => said.times().any(|it| it.range.contains(&whole.range.start)),
        Class::Verb => may_be_base(word) || base_of(word, Form::Present).is_some(),
    }
}

/// Returns true if a noun names food or a drink.
fn is_food(noun: &str) -> bool {
    let nouns = crate::Nouns::builtin();
    let is = |kind: &str| nouns.kind(kind).is_some_and(|it| nouns.has(&it, &[noun.to_owned()]));
    let plain = !crate::is_stop(noun) && !matches!(noun, "time" | "things" | "kids" | "children" | "work" | "idea");
    plain && (matches!(noun, "dairy" | "gluten" | "caffeine" | "spicy" | "alcohol") || is("food") || is("foodstuff"))
}
