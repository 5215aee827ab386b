//! The question as the reader uses it: the router's reading of it, and values that only the reader needs.

use std::ops::Deref;

use chrono::{DateTime, FixedOffset};
use domain::message::AnswerV1;
use domain::question;
use domain::time::TimeSpan;
use text::gloss;
use text::question::QuestionInput;

use crate::evidence::word_similarity::vector_of;

pub(crate) use domain::question::{AnswerClass as Asked, QuestionWord as Word};

/// A question with the values that the reader needs.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The router's reading.
    pub(crate) read: question::Question,
    /// "Yes" and "No" in the language of the question.
    pub(crate) replies: [&'static str; 2],
    /// The time that the question names, if it could be resolved.
    pub(crate) window: Option<TimeSpan>,
    /// The time of the question, if it is known.
    pub(crate) asked_at: Option<DateTime<FixedOffset>>,
    /// Words of the names of all speakers, in lower case.
    pub(crate) speakers: Vec<String>,
    /// Vector of the bare question.
    pub(crate) vector: Vec<f32>,
}

impl Deref for Question {
    type Target = question::Question;

    fn deref(&self) -> &question::Question {
        &self.read
    }
}

impl Question {
    /// Returns the question of a request as the router read it. A router of an older release sends no reading; then it
    /// is made here.
    pub(crate) fn from_request(request: &AnswerV1) -> Question {
        let read = request.reading.clone().unwrap_or_else(|| {
            text::question::read_question(&QuestionInput {
                question: &request.question,
                anchors: &request.anchors,
                weights: &request.words,
            })
        });
        let bare = match request.anchors.bare.as_str() {
            "" => &request.question,
            bare => bare,
        };
        let speakers = request.speakers.iter().flat_map(|it| text::split_words(it));
        Question {
            replies: gloss::yes_and_no(&request.question),
            window: request.anchors.window.clone(),
            asked_at: request.anchors.asked_at,
            speakers: speakers.map(str::to_lowercase).collect(),
            vector: vector_of(bare),
            read,
        }
    }

    /// Returns true if the question contains only a person and a time: "where was Ann last week".
    pub(crate) fn only_when(&self) -> bool {
        self.words.is_empty() && self.window.is_some()
    }

    /// Returns true if the question is about this speaker, or has no subject.
    pub(crate) fn may_say(&self, actor: &str) -> bool {
        self.subject.as_ref().is_none_or(|it| it == actor)
    }
}
