//! Talks about which the tests ask.

use chrono::{DateTime, FixedOffset};
use domain::anchor::{Anchors, AnswerKind};
use domain::evidence::{AnswerStyle, EvidencePack, Scene, Turn, WordWeight};
use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{AnswerV1, AnsweredV1};
use domain::port::ModelAllowance;
use reader::{Config, Reader};

/// Returns the reply with the built-in weights, also if the answer is too uncertain to be given.
pub(crate) fn read(request: &AnswerV1) -> AnsweredV1 {
    let assessed = Reader::new(&Config::default()).unwrap().assess_request(request);
    assessed.instead.unwrap_or(assessed.answered)
}

/// A talk: lines of "Speaker: text" on one day. An empty line starts a new session, and a line "@ date" sets the day; a
/// line "@ time" sets the time with its offset.
pub(crate) struct Talk {
    space: SpaceId,
    turns: Vec<Turn>,
    speakers: Vec<String>,
}

impl Talk {
    pub(crate) fn new(lines: &str) -> Talk {
        let space: SpaceId = "talk".parse().unwrap();
        let mut talk = Talk {
            space,
            turns: Vec::new(),
            speakers: Vec::new(),
        };
        let mut day = "2024-03-14T10:00:00+00:00".to_owned();
        let mut session = 0;
        for line in lines.lines().map(str::trim) {
            match line.split_once(": ") {
                _ if line.is_empty() => session += 1,
                _ if line.starts_with('@') => {
                    let at = line.trim_start_matches(['@', ' ']);
                    day = match at.contains('T') {
                        true => at.to_owned(),
                        false => format!("{at}T10:00:00+00:00"),
                    };
                }
                Some((speaker, text)) => talk.say(session, &day, speaker, text),
                None => panic!("no speaker: {line}"),
            }
        }
        talk.speakers = talk.turns.iter().map(|it| it.actor.clone()).collect();
        talk.speakers.sort();
        talk.speakers.dedup();
        if let [a, b] = talk.speakers.as_slice() {
            talk.turns
                .iter_mut()
                .for_each(|it| it.addressee = if it.actor == *a { b.clone() } else { a.clone() });
        }
        talk
    }

    fn say(&mut self, session: u32, day: &str, speaker: &str, text: &str) {
        let id = format!("t{}", self.turns.len() + 1);
        let observed_at: DateTime<FixedOffset> = day.parse().unwrap();
        let (text, caption) = text.split_once(" [image: ").unwrap_or((text, ""));
        self.turns.push(Turn {
            unit: UnitId::of_turn(RecordId::from_external_id(&self.space, &id)),
            external_ids: vec![id],
            session: SessionId::from_name(&self.space, &session.to_string()),
            observed_at,
            actor: speaker.to_owned(),
            addressee: String::new(),
            times: text::time::find_times(text, observed_at)
                .into_iter()
                .map(|it| it.span)
                .collect(),
            question: self.asked(session, speaker),
            text: text.to_owned(),
            caption: caption.trim_end_matches(']').to_owned(),
            amended: Vec::new(),
        });
    }

    /// Returns the question that the next turn of a session answers, if another speaker asked one last.
    fn asked(&self, session: u32, speaker: &str) -> String {
        let session = SessionId::from_name(&self.space, &session.to_string());
        let before = self
            .turns
            .last()
            .filter(|it| it.session == session && it.actor != speaker);
        let question = before.and_then(|it| text::asked_last(&it.text));
        question.unwrap_or_default().to_owned()
    }

    /// Returns the request that the router would send: first the turns that share words with the question, each with
    /// the turns around it.
    pub(crate) fn request(&self, kind: AnswerKind, question: &str, head: &str, action: &str) -> AnswerV1 {
        // The router takes the verb after the subject.
        let third = || text::split_words(question).get(2).map(|it| it.to_lowercase());
        let asked = action.is_empty() && kind == AnswerKind::YesNo && !question.starts_with("Is ");
        let action = &third().filter(|_| asked).unwrap_or_else(|| action.to_owned());
        let subjects: Vec<String> = self
            .speakers
            .iter()
            .filter(|it| question.contains(it.as_str()))
            .cloned()
            .collect();
        let bare = subjects.iter().fold(without_grammar(question), |it, name| {
            it.replace(&format!("{name}'s"), "").replace(name.as_str(), "")
        });
        let holds =
            |turn: &Turn, stem: &String| text::stem_words(&format!("{} {}", turn.text, turn.caption)).contains(stem);
        let words: Vec<WordWeight> = text::stem_words(&bare)
            .into_iter()
            .map(|stem| {
                let df = self.turns.iter().filter(|it| holds(it, &stem)).count() as u32;
                WordWeight {
                    idf: (1.0 + 40.0 / (df as f32 + 0.5)).ln(),
                    df,
                    stem,
                }
            })
            .collect();
        let shared = |turn: &Turn| {
            words
                .iter()
                .filter(|it| holds(turn, &it.stem))
                .map(|it| it.idf)
                .sum::<f32>()
        };
        let mut order: Vec<usize> = (0..self.turns.len()).collect();
        order.sort_by(|&a, &b| {
            shared(&self.turns[b])
                .total_cmp(&shared(&self.turns[a]))
                .then(a.cmp(&b))
        });
        let scenes = order
            .iter()
            .enumerate()
            .map(|(rank, &at)| self.scene(at, 0.5_f32.powi(rank as i32 + 1)))
            .collect();
        let anchors = Anchors {
            answer: kind,
            subjects,
            names: names(question, &self.speakers),
            bare,
            head: head.to_owned(),
            action: action.to_owned(),
            ..Anchors::default()
        };
        let (space, speakers) = (self.space.clone(), self.speakers.clone());
        AnswerV1 {
            space,
            question: question.to_owned(),
            anchors,
            reading: None,
            speakers,
            words,
            pack: EvidencePack::default(),
            scenes,
            style: AnswerStyle::default(),
            allow: ModelAllowance::default(),
        }
    }

    fn scene(&self, at: usize, probability: f32) -> Scene {
        let near = (at.saturating_sub(3)..self.turns.len().min(at + 3))
            .filter(|&it| self.turns[it].session == self.turns[at].session);
        let near: Vec<usize> = near.collect();
        let center = near.iter().position(|&it| it == at).unwrap();
        let turns = near.into_iter().map(|it| self.turns[it].clone()).collect();
        Scene {
            score: probability.ln(),
            probability,
            center,
            turns,
            packed: true,
        }
    }

    pub(crate) fn ask(&self, kind: AnswerKind, question: &str) -> AnsweredV1 {
        read(&self.request(kind, question, "", ""))
    }

    pub(crate) fn answer(&self, kind: AnswerKind, question: &str) -> String {
        self.ask(kind, question)
            .answer
            .map_or_else(|| "refused".to_owned(), |it| it.text)
    }
}

/// Kind, head and verb as the router reads them, the question, and the answer.
pub(crate) type Case = (AnswerKind, &'static str, &'static str, &'static str, &'static str);

/// Asserts the answers of a talk; "refused" stands for no answer.
pub(crate) fn check(talk: &Talk, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (kind, head, verb, question, expected) in cases {
        let answered = read(&talk.request(*kind, question, head, verb));
        let answer = answered.answer.map_or("refused".to_owned(), |it| it.text);
        if answer != *expected {
            wrong.push(format!("{question} is {expected}, not {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a question without its function words if it is in a language other than English, as the router does. Returns
/// other questions unchanged.
fn without_grammar(question: &str) -> String {
    let Some(pieces) = text::gloss::split_pieces(question) else {
        return question.to_owned();
    };
    let content = text::gloss::content_words(question, &pieces);
    content.iter().map(|it| it.written).collect::<Vec<_>>().join(" ")
}

/// Returns the runs of capitalised words after the first word that are not speakers, as the router reads them.
fn names(question: &str, speakers: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut joins = false;
    for word in text::split_words(question).into_iter().skip(1) {
        let bare = word.strip_suffix("'s").unwrap_or(word);
        let named = bare.starts_with(char::is_uppercase)
            && !text::is_stop(bare)
            && !speakers.iter().any(|it| text::split_words(it).contains(&bare));
        match names.last_mut().filter(|_| joins && named) {
            Some(last) => *last = format!("{last} {bare}"),
            None if named => names.push(bare.to_owned()),
            None => {}
        }
        joins = named && bare == word;
    }
    names
}
