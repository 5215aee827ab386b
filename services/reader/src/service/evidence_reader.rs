//! From evidence to verdict and answer.

use std::sync::Arc;

use domain::evidence::{Answer, ReasonCode, Sufficiency, Turn, Verdict};
use domain::message::{AnswerV1, AnsweredV1};
use text::shown_name;

use crate::answer::stated_facts::Sought;
use crate::answer::{self, FoundAnswer};
use crate::check::certainty::{self, Certainty};
use crate::check::evidence_features::{self, Features};
use crate::check::judge::{Case, judge_evidence};
use crate::check::near_misses::near_misses;
use crate::check::objection::Objection;
use crate::check::refusal_check::Check;
use crate::check::refusal_reasons;
use crate::evidence::amendments::{self, amend_request};
use crate::evidence::evidence_lines::{Pool, is_same_speaker};
use crate::evidence::question::Question;
use crate::evidence::text_readings::Readings;
use crate::evidence::word_similarity::Lexicon;
use crate::weights::Weights;
use crate::{Config, Error};

/// Minimum cover of the question by a window; with less, the answer is partial.
const PART: f32 = 0.5;

/// Judges evidence and answers from it, with the given weights.
#[derive(Clone, Debug)]
pub struct Reader {
    answers: Weights,
    refusal: Check,
    certainty: Certainty,
    /// Minimum probability of an answer that is given.
    precision: f32,
    readings: Arc<Readings>,
}

/// The reply to a request, with the features of its answer.
#[derive(Clone, Debug)]
pub struct Assessed {
    /// The reply, with the answer however uncertain it is.
    pub answered: AnsweredV1,
    /// Features of the answer, see [`certainty::NAMES`]; `None` without an answer.
    pub features: Option<certainty::Features>,
    /// The reply that replaces an answer that fails a check of honesty, however probable the answer is.
    pub instead: Option<AnsweredV1>,
}

impl Reader {
    /// Returns a reader with the weights that the settings name.
    ///
    /// # Errors
    /// If weights cannot be read or do not fit the features of this build, or if the precision is not above 0 and at
    /// most 1.
    pub fn new(config: &Config) -> Result<Reader, Error> {
        let unfit = |setting: &'static str| move |source| Error::Weights { setting, source };
        let answers = match config.answers.as_os_str().is_empty() {
            true => Weights::builtin().map_err(Clone::clone).cloned(),
            false => Weights::from_path(&config.answers),
        };
        let refusal = match config.refusal.as_os_str().is_empty() {
            true => Check::builtin().map_err(Clone::clone).cloned(),
            false => Check::from_path(&config.refusal),
        };
        let certainty = match config.certainty.as_os_str().is_empty() {
            true => Certainty::builtin().map_err(Clone::clone).cloned(),
            false => Certainty::from_path(&config.certainty),
        };
        if !(config.precision > 0.0 && config.precision <= 1.0) {
            return Err(Error::Precision {
                found: config.precision,
            });
        }
        Ok(Reader {
            answers: answers.map_err(unfit("answers"))?,
            refusal: refusal.map_err(unfit("refusal"))?,
            certainty: certainty.map_err(unfit("certainty"))?,
            precision: config.precision,
            readings: Arc::default(),
        })
    }

    /// Returns this reader with other weights of candidate answers.
    #[must_use]
    pub fn with_answers(self, answers: Weights) -> Reader {
        Reader { answers, ..self }
    }

    /// Clears the cache of read texts.
    pub(crate) fn forget_texts(&self) {
        self.readings.clear();
    }

    /// Returns the verdict on the evidence of a request, with an answer if one is certain enough. Pure: equal requests
    /// get equal replies.
    pub fn answer_request(&self, request: &AnswerV1) -> AnsweredV1 {
        let Assessed { answered, instead, .. } = self.assess_request(request);
        match (&answered.answer, instead) {
            (_, Some(instead)) => instead,
            (Some(answer), None) if answer.confidence < self.precision => withhold_answer(answered),
            (_, None) => answered,
        }
    }

    /// Returns the verdict on the evidence of a request, with the answer however uncertain it is.
    pub fn assess_request(&self, request: &AnswerV1) -> Assessed {
        let request = &*amend_request(request);
        let question = Question::from_request(request);
        let mut lexicon = Lexicon::from_question(&question, self.readings.stem_vectors());
        let pool = Pool::from_request(request, &question, &self.answers, &self.readings, &mut lexicon);
        if pool.lines.is_empty() {
            let objection =
                Objection::insufficient_evidence("nothing is remembered that could answer this", Vec::new());
            return objection.into_reply(ReasonCode::NoEvidence).into();
        }
        let judgement = judge_evidence(&pool, &question);
        let sought = Sought::from_question(request, &question, &pool);
        let case = Case {
            request,
            sought: sought.as_ref(),
            question: &question,
            pool: &pool,
            judgement: &judgement,
            opinion: self
                .refusal
                .weigh_features(&evidence_features::compute_evidence_features(
                    request,
                    &question,
                    &pool,
                    &judgement.parts,
                )),
        };
        let found = match find_answer(&case, &self.answers, &mut lexicon) {
            Ok(found) => found,
            Err(refusal) => return (*refusal).into(),
        };
        let features = certainty::compute_answer_features(&case, &found);
        let instead = refusal_reasons::of_answer(&refusal_reasons::OF_HONESTY, &case, &found);
        let confidence = self.certainty.probability_right(&features);
        Assessed {
            answered: accept_answer(&case, found, confidence),
            features: Some(features),
            instead,
        }
    }
}

impl From<AnsweredV1> for Assessed {
    fn from(answered: AnsweredV1) -> Assessed {
        Assessed {
            answered,
            features: None,
            instead: None,
        }
    }
}

/// Returns the answer, or the reply that gives the reason why there is none.
fn find_answer(case: &Case<'_>, answers: &Weights, lexicon: &mut Lexicon) -> Result<FoundAnswer, Box<AnsweredV1>> {
    let Case { question, pool, .. } = *case;
    if let Some(found) = case.sought.and_then(|it| it.find_answer(pool)) {
        return Ok(found);
    }
    if let Some(refusal) = refusal_reasons::of_evidence(case) {
        return Err(Box::new(refusal));
    }
    let Some(found) = answer::find_short_answer(question, pool, answers, lexicon) else {
        let reason = "the evidence holds nothing of the kind that the question asks for";
        let objection = Objection::insufficient_evidence(reason, near_misses(pool, &pool.by_order, "weak"));
        return Err(Box::new(objection.into_reply(ReasonCode::NothingOfKind)));
    };
    match refusal_reasons::of_answer(&refusal_reasons::OF_LINES, case, &found) {
        Some(refusal) => Err(Box::new(refusal)),
        None => Ok(found),
    }
}

/// Returns the features of the check of the evidence, for fitting it; `None` if there is no evidence. See
/// [`crate::check::evidence_features::NAMES`].
pub fn evidence_features_of_request(request: &AnswerV1) -> Option<Features> {
    let question = Question::from_request(request);
    let readings = Readings::default();
    let mut lexicon = Lexicon::from_question(&question, readings.stem_vectors());
    // The check does not use the order of turns.
    let pool = Pool::from_request(request, &question, &Weights::default(), &readings, &mut lexicon);
    if pool.lines.is_empty() {
        return None;
    }
    let judgement = judge_evidence(&pool, &question);
    Some(evidence_features::compute_evidence_features(
        request,
        &question,
        &pool,
        &judgement.parts,
    ))
}

fn accept_answer(case: &Case<'_>, found: FoundAnswer, confidence: f32) -> AnsweredV1 {
    let Case {
        question,
        pool,
        judgement,
        ..
    } = *case;
    let (mut status, mut reasons) = (Sufficiency::Supported, Vec::new());
    if found.stated.is_none() && judgement.parts.cover < PART {
        status = Sufficiency::Partial;
        reasons.push("the evidence covers only a part of the question".to_owned());
    }
    reasons.extend(found.reason.clone());
    let first = found.lines.first().map(|it| pool.lines[*it].turn);
    reasons.extend(first.and_then(|it| amendments::correction_reason(it, &found.text)));
    if found.conflict {
        status = Sufficiency::Conflicting;
    }
    if reasons.is_empty() {
        reasons.push(first.map_or_else(String::new, |it| told_by(question, it)));
    }
    let turns = || found.lines.iter().map(|&it| pool.lines[it].turn);
    let answer = Answer {
        text: found.text,
        kind: question.kind,
        supports: turns().map(|it| it.unit).collect(),
        external_ids: turns().flat_map(|it| it.external_ids.clone()).collect(),
        confidence,
    };
    let verdict = Verdict {
        status,
        code: None,
        reasons,
        nearest: Vec::new(),
    };
    AnsweredV1::new(verdict, Some(answer))
}

/// Returns the name of the speaker from whom an answer comes, as a reason.
fn told_by(question: &Question, turn: &Turn) -> String {
    let teller = shown_name(&turn.actor);
    match question.subject.as_deref() {
        _ if teller.is_empty() => "the evidence covers the question".to_owned(),
        Some(subject) if !is_same_speaker(subject, &turn.actor) => {
            format!("{teller} says so about {}", shown_name(subject))
        }
        Some(_) | None => format!("{teller} says so"),
    }
}

/// Reason for which an answer is withheld.
const UNCERTAIN: &str = "the evidence may hold the answer, but no short answer is certain enough";

/// Returns the reply without its answer, which is not certain enough. A conflict in the evidence is still reported.
fn withhold_answer(answered: AnsweredV1) -> AnsweredV1 {
    let mut verdict = answered.verdict;
    if verdict.status != Sufficiency::Conflicting {
        verdict.status = Sufficiency::Partial;
        verdict.code = Some(ReasonCode::Uncertain);
        verdict.reasons = vec![UNCERTAIN.to_owned()];
    }
    AnsweredV1 {
        answer: None,
        verdict,
        ..answered
    }
}
