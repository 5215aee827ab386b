//! The verb group of a clause: the verb with its auxiliaries, negation and adverbs.

use crate::facts::clauses::token::{Gap, Word};
use crate::facts::clauses::verb::{Form, base_of, base_of_third, verbs_with_form};
use crate::facts::lexicon::{ADVERBS, DONE, GOING_TO_PLACES, MODALS, NO_ING, OFTEN, PARTICIPLES};

/// Tense and aspect of the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// "lives".
    Present,
    /// "moved".
    Past,
    /// "has moved".
    Perfect,
    /// "is moving".
    Progressive,
    /// "has been living".
    Lasting,
    /// "will move".
    Future,
    /// "is going to move".
    Going,
    /// "is", before an adjective or a noun.
    Be,
    /// "was".
    Was,
    /// "has been".
    Been,
    /// "would", "could", "might" and similar: uncertain.
    Modal,
}

/// The verb group of a clause.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Base form of the verb; "be" if a form of it is the only verb.
    pub(crate) base: String,
    /// Tense and aspect of the verb group.
    pub(crate) shape: Shape,
    /// True if the verb has no "not" and no "never".
    pub(crate) positive: bool,
    /// True if the verb has "never".
    pub(crate) never: bool,
    /// "always", "usually", "often" and so on.
    pub(crate) often: Option<String>,
    /// True with "used to" or "no longer".
    pub(crate) ended: bool,
    /// True if "can" is its auxiliary.
    pub(crate) can: bool,
    /// Index of the first word after the group.
    pub(crate) next: usize,
}

impl Group {
    /// Returns the group of an "is" that was omitted before the word at `next`.
    pub(crate) fn left_out(next: usize) -> Group {
        Group {
            base: "be".to_owned(),
            shape: Shape::Be,
            positive: true,
            never: false,
            often: None,
            ended: false,
            can: false,
            next,
        }
    }
}

#[derive(Default)]
struct Auxiliaries {
    be: Option<Shape>,
    have: bool,
    had: bool,
    been: bool,
    done: Option<Form>,
    future: bool,
    modal: bool,
}

/// Reads the verb group that begins at `at`. `is` is true if the word before contains an "is".
pub(crate) fn read_verb_group(words: &[Word], at: usize, is: bool) -> Option<Group> {
    let have = is && had_done(words, at);
    let mut aux = Auxiliaries {
        be: (is && !have).then_some(Shape::Be),
        have,
        ..Auxiliaries::default()
    };
    let mut found = Group {
        base: String::new(),
        shape: Shape::Present,
        positive: true,
        never: false,
        often: None,
        ended: false,
        can: false,
        next: at,
    };
    let mut i = at;
    while let Some(word) = words.get(i) {
        // A comma does not end the group; a stronger break or a quotation does.
        if i > at && words[i - 1].gap == Gap::Strong || word.quoted {
            break;
        }
        let next = words.get(i + 1).map_or("", |it| it.lower.as_str());
        i += match word.lower.as_str() {
            "not" => {
                found.positive = false;
                1
            }
            "never" => {
                (found.positive, found.never) = (false, true);
                1
            }
            "no" if next == "longer" => {
                found.ended = true;
                2
            }
            "used" if next == "to" && aux.be.is_none() => {
                found.ended = true;
                2
            }
            "going" if next == "to" && aux.be == Some(Shape::Be) && means_to(words, i + 2) => {
                return read_main_verb(words, i + 2, found, Some(Shape::Going));
            }
            lower => {
                let step = aux
                    .read_auxiliary(lower, words, i, &mut found)
                    .or_else(|| read_adverb(lower, &mut found));
                match step {
                    Some(step) => step,
                    None => break,
                }
            }
        };
    }
    complete_group(words, i, found, &aux)
}

impl Auxiliaries {
    /// Reads an auxiliary and returns the number of its words; `None` for any other word.
    fn read_auxiliary(&mut self, lower: &str, words: &[Word], at: usize, found: &mut Group) -> Option<usize> {
        let ahead = verb_ahead(words, at + 1);
        let denied = words.get(at + 1).is_some_and(|it| it.is_any_of(&["not", "never"]));
        match lower {
            // "she's got", "he's moved": here "'s" is "has".
            "is" if had_done(words, at + 1) && is_contraction_tail(words, at) => self.have = true,
            "am" | "is" | "are" => self.be = Some(Shape::Be),
            "was" | "were" => self.be = Some(Shape::Was),
            "been" if self.have || self.had => self.been = true,
            "be" if self.future || self.modal => self.be = Some(Shape::Be),
            "have" | "has" if ahead.is_some_and(is_perfect_participle) => self.have = true,
            "had" if ahead.is_some_and(is_perfect_participle) => self.had = true,
            // "does yoga": without "not", only a known verb follows.
            "do" | "does"
                if ahead.is_some_and(|it| denied || !verbs_with_form(it).is_empty()) && !self.future && !self.modal =>
            {
                self.done = Some(Form::Present);
            }
            "did" if ahead.is_some() => self.done = Some(Form::Past),
            "will" | "shall" => self.future = true,
            _ if MODALS.contains(lower) => {
                found.can = lower == "can";
                self.modal = true;
            }
            _ => return None,
        }
        Some(1)
    }
}

/// Returns true if the word at `at` is the second part of a contraction.
fn is_contraction_tail(words: &[Word], at: usize) -> bool {
    at > 0 && words[at - 1].range == words[at].range
}

/// Returns true if a participle of the perfect follows ("has moved"), not of the passive ("is made").
fn had_done(words: &[Word], at: usize) -> bool {
    let ahead = words[at.min(words.len())..]
        .iter()
        .take(3)
        .find(|it| !it.is_in_list(&ADVERBS));
    ahead.is_some_and(|it| it.is_in_list(&DONE))
}

/// Returns the next word that is neither an adverb nor "not" or "never", if it can be a verb.
fn verb_ahead(words: &[Word], from: usize) -> Option<&str> {
    words[from.min(words.len())..]
        .iter()
        .map(|it| it.lower.as_str())
        .take(4)
        .find(|it| !ADVERBS.contains(it) && !OFTEN.contains(it) && !matches!(*it, "not" | "never"))
        .filter(|it| {
            *it == "been"
                || !verbs_with_form(it).is_empty()
                || crate::facts::clauses::verb::may_be_base(it)
                || it.ends_with("ed")
        })
}

fn is_perfect_participle(word: &str) -> bool {
    word == "been" || base_of(word, Form::Participle).is_some() || word.ends_with("ed") || PARTICIPLES.contains(word)
}

fn read_adverb(lower: &str, found: &mut Group) -> Option<usize> {
    if OFTEN.contains(lower) {
        found.often = Some(lower.to_owned());
        return Some(1);
    }
    ADVERBS.contains(lower).then_some(1)
}

/// Returns true if the word at `at`, after "to", is a verb and not a place: "going to buy", not "going to Oslo".
fn means_to(words: &[Word], at: usize) -> bool {
    words.get(at).is_some_and(|it| {
        !it.capital
            && !it.is_in_list(&GOING_TO_PLACES)
            && (it.lower == "be"
                || crate::facts::clauses::verb::may_be_base(&it.lower)
                || base_of(&it.lower, Form::Present).is_some())
    })
}

fn complete_group(words: &[Word], at: usize, found: Group, aux: &Auxiliaries) -> Option<Group> {
    let copula = |shape| {
        Some(Group {
            base: "be".to_owned(),
            shape,
            next: at,
            ..found.clone()
        })
    };
    let word = words.get(at).map_or("", |it| it.lower.as_str());
    if aux.modal {
        return read_main_verb(words, at, found, Some(Shape::Modal));
    }
    if aux.future {
        return if aux.be.is_some() {
            copula(Shape::Future)
        } else {
            read_main_verb(words, at, found, Some(Shape::Future))
        };
    }
    let ing = word.len() > 4 && word.ends_with("ing") && !NO_ING.contains(word);
    if aux.been {
        return match (aux.had, ing) {
            (true, _) => None,
            (false, true) => read_main_verb(words, at, found, Some(Shape::Lasting)),
            (false, false) => copula(Shape::Been),
        };
    }
    match aux.be {
        Some(Shape::Be) if ing => return read_main_verb(words, at, found, Some(Shape::Progressive)),
        // "was living" reports something in progress, but not that it is over.
        Some(Shape::Was) if ing => return None,
        Some(shape) => return copula(shape),
        None => {}
    }
    if aux.had {
        return None;
    }
    if aux.have {
        return read_main_verb(words, at, found, Some(Shape::Perfect));
    }
    let shape = aux
        .done
        .map(|it| if it == Form::Past { Shape::Past } else { Shape::Present });
    read_main_verb(words, at, found, shape)
}

/// Reads the main verb at `at`. Without an auxiliary, its own form decides the tense.
fn read_main_verb(words: &[Word], at: usize, found: Group, shape: Option<Shape>) -> Option<Group> {
    let word = words.get(at).filter(|it| !it.quoted)?;
    let lower = word.lower.as_str();
    let known = verbs_with_form(lower);
    let wanted = match shape {
        Some(Shape::Perfect) => Some(Form::Participle),
        Some(Shape::Progressive | Shape::Lasting) => Some(Form::Ing),
        Some(_) => Some(Form::Present),
        None => None,
    };
    let fits = known.iter().find(|it| wanted.is_none_or(|wanted| it.1 == wanted));
    let (base, shape) = match (fits, shape) {
        (Some((base, _)), Some(shape)) => ((*base).to_owned(), shape),
        // "quit" has the same past form, and usually reports something that is over.
        (Some(("quit", _)), None) => ("quit".to_owned(), Shape::Past),
        (Some((base, Form::Present)), None) => ((*base).to_owned(), Shape::Present),
        (Some((base, Form::Past)), None) => ((*base).to_owned(), Shape::Past),
        (Some(_), None) => return None,
        (None, Some(shape)) => (lower.to_owned(), shape),
        (None, None) if lower.ends_with("ed") => (lower.to_owned(), Shape::Past),
        (None, None) => {
            let base = base_of_third(lower)
                .or_else(|| crate::facts::clauses::verb::may_be_base(lower).then(|| lower.to_owned()))?;
            (base, Shape::Present)
        }
    };
    Some(Group {
        base,
        shape,
        next: at + 1,
        ..found
    })
}
