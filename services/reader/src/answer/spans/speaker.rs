//! Who speaks, as a candidate: "I repaired it", "Ann and I".

use domain::evidence::Turn;
use text::role::{is_assistant_to, is_user};

use super::super::lexis::{Class, person};
use super::token::{Token, shouted};
use super::{Finder, Shape, Span};
use crate::pool::{Pool, Sentence};
use crate::question::Question;

/// Returns who speaks; none if that is no person but a side of a talk with an assistant.
pub(super) fn of(turn: &Turn) -> Option<&str> {
    let person = !is_user(&turn.actor) && !is_assistant_to(&turn.actor, &turn.addressee);
    person.then_some(&turn.actor)
}

/// The question before a reply asks the same when it covers at least this share of it.
const SAME: f32 = 0.6;

/// "Who writes the notes?" "I can do that.": says whether a sentence opens a reply to what is asked.
pub(super) fn replies(question: &Question, pool: &Pool<'_>, line: usize, sentence: usize) -> bool {
    let asked = pool.said_before(line);
    let who = |it: &Sentence| text::words(&it.text).iter().any(|it| it.eq_ignore_ascii_case("who"));
    question.gap.agent && sentence == 0 && asked.is_some_and(|it| it.question && it.cover >= SAME && who(it))
}

impl Finder<'_> {
    /// Says whether it is written as no person is.
    pub(super) fn label(&self, from: usize, to: usize) -> bool {
        let figure = |it: &Token| it.class == Class::Number && !(it.breaks || it.comma || it.time);
        let mut words = self.tokens[from..to].iter().map(|it| &self.text[it.start..it.end]);
        words.any(shouted) || self.tokens.get(to).is_some_and(figure)
    }

    /// "I repaired it" names who speaks; `does` says whether what stands there does what is asked about.
    pub(super) fn speakers(&mut self, does: impl Fn(&Span) -> bool) {
        let Some(speaker) = self.speaker.filter(|_| self.who) else {
            return;
        };
        for at in 0..self.tokens.len() {
            if self.tokens[at].lower.split('\'').next() == Some("i") {
                let span = Span {
                    says: Some(speaker.to_owned()),
                    ..self.span(at, at + 1, Shape::Name)
                };
                self.out.extend(does(&span).then_some(span));
            }
        }
    }

    /// "My friends Ann and Ben": names of people are one answer to who.
    pub(super) fn joined(&self, at: usize, until: usize) -> Shape {
        let one = |it: &Token| {
            it.class == Class::Name
                || person(&it.lower)
                || matches!(it.lower.as_str(), "and" | "my" | "our" | "her" | "his")
        };
        let names = self.who && self.tokens[at..until].iter().all(one);
        if names { Shape::Name } else { Shape::Joined }
    }

    /// "Ann and I"; who asks for those beside the speaker does not mean the speaker.
    pub(super) fn with_speaker(&mut self, at: usize, me: usize) {
        let speaker = self.speaker.filter(|it| self.subject != Some(*it));
        if let (true, Some(speaker), Some(token)) = (self.who, speaker, self.tokens.get(me))
            && matches!(token.lower.as_str(), "i" | "me")
            && self.tokens[me - 1].lower == "and"
        {
            let span = self.span(at, me + 1, Shape::Name);
            let others = &self.text[span.start..token.start];
            self.out.push(Span {
                says: Some(format!("{others}{speaker}")),
                ..span
            });
        }
    }
}
