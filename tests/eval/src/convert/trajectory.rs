//! Trajectories of agents: JSON lines, each of them a step of an episode or a question about an episode.
//!
//! A step has `episode`, `step`, `action` and `observation`, and may have `goal`, `place`, `image` (an address),
//! `caption`, `time` and `agent`. It becomes a turn of the agent and a turn of the environment; step and place go into
//! the metadata of both. A question has `episode`, `question`, `answer` and `evidence` (steps), and may have `id`,
//! `category` and `accept`.

use std::collections::{BTreeMap, HashMap};

use anyhow::Context;
use serde::Deserialize;
use serde_json::Value;

use super::builder::{ConversationBuilder, ConvertedConversation, NewTurn, Notes, TimedQuestion, build_question};
use super::source::Item;
use super::text::{parse_moment, value_to_text, value_to_texts};

/// Speaker of observations. The server treats this name as an environment that responds to actions.
const ENVIRONMENT: &str = "environment";

#[derive(Deserialize)]
struct Step {
    episode: Value,
    step: u32,
    #[serde(default)]
    action: Value,
    #[serde(default)]
    observation: Value,
    #[serde(default)]
    goal: Option<String>,
    #[serde(default, alias = "location")]
    place: Option<String>,
    #[serde(default, alias = "image_uri")]
    image: Option<String>,
    #[serde(default, alias = "image_caption")]
    caption: Option<String>,
    #[serde(default, alias = "timestamp")]
    time: Option<String>,
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Deserialize)]
struct Asked {
    episode: Value,
    question: String,
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    accept: Value,
    #[serde(default)]
    evidence: Value,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    id: Value,
}

#[derive(Default)]
struct Episode {
    steps: Vec<Step>,
    questions: Vec<Asked>,
}

/// The lines of all files. They are collected first, because the questions about an episode may come after other
/// episodes.
#[derive(Default)]
pub(super) struct Trajectories {
    names: Vec<String>,
    episodes: HashMap<String, Episode>,
}

impl Trajectories {
    /// Adds a line.
    ///
    /// # Errors
    /// If the line is neither a step nor a question, or a step has a time of unknown form.
    pub(super) fn take(&mut self, item: &Item) -> anyhow::Result<()> {
        if item.value.get("question").is_some() {
            let asked: Asked = item.read()?;
            self.episode(item, &asked.episode)?.questions.push(asked);
            return Ok(());
        }
        let mut step: Step = item.read()?;
        if let Some(text) = step.time.take() {
            let time = parse_moment(&text);
            step.time = Some(time.ok_or_else(|| item.wrong("time", &format!("{text:?} is no time that is known")))?);
        }
        self.episode(item, &step.episode)?.steps.push(step);
        Ok(())
    }

    /// Returns the episodes as conversations, in the order in which they first occur.
    ///
    /// # Errors
    /// If an episode has questions but no steps.
    pub(super) fn finish(mut self, notes: &mut Notes) -> anyhow::Result<Vec<ConvertedConversation>> {
        let mut converted = Vec::new();
        for name in &self.names {
            let episode = self.episodes.remove(name).unwrap_or_default();
            converted.push(convert_episode(name, episode, notes)?);
        }
        Ok(converted)
    }

    fn episode(&mut self, item: &Item, name: &Value) -> anyhow::Result<&mut Episode> {
        let name = value_to_text(name).ok_or_else(|| item.wrong("episode", "it is empty"))?;
        if !self.episodes.contains_key(&name) {
            self.names.push(name.clone());
        }
        Ok(self.episodes.entry(name).or_default())
    }
}

fn convert_episode(name: &str, mut episode: Episode, notes: &mut Notes) -> anyhow::Result<ConvertedConversation> {
    episode.steps.sort_by_key(|it| it.step);
    let first = episode.steps.first();
    let first = first.with_context(|| format!("episode {name} has questions and no steps"))?;
    let mut builder = ConversationBuilder::new(name.to_owned(), notes);
    builder.begin_session("1", first.time.clone());
    if let Some(goal) = episode.steps.iter_mut().find_map(|it| it.goal.take()) {
        builder.push(NewTurn {
            id: "goal".to_owned(),
            speaker: ENVIRONMENT.to_owned(),
            text: format!("Goal: {}", goal.trim()),
            ..NewTurn::default()
        });
    }
    let mut turns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in episode.steps {
        let number = step.step.to_string();
        turns.entry(number).or_default().extend(push_step(step, &mut builder));
    }
    let mut questions = Vec::new();
    for (at, asked) in episode.questions.into_iter().enumerate() {
        let id = value_to_text(&asked.id).unwrap_or_else(|| format!("{name}-q{}", at + 1));
        let mut question = build_question(name, id, asked.question, value_to_text(&asked.answer));
        question.accept = value_to_texts(&asked.accept);
        question.category = asked.category.unwrap_or_else(|| "trajectory".to_owned());
        let mut groups = Vec::new();
        for step in value_to_texts(&asked.evidence) {
            match turns.get(&step) {
                Some(ids) if !ids.is_empty() => groups.push(ids.clone()),
                _ => builder.note("evidence that names no step, left out"),
            }
        }
        if question.answerable {
            // The server may show an action and its result in one item or in two; one of them is enough.
            question.evidence_groups = groups;
        } else {
            question.trap_evidence = groups.concat();
        }
        questions.push(TimedQuestion {
            question,
            asked_at: None,
        });
    }
    Ok(ConvertedConversation {
        conversation: builder.finish(),
        questions,
    })
}

/// Adds the action and the observation of a step, and returns the ids of their turns.
fn push_step(step: Step, builder: &mut ConversationBuilder<'_>) -> Vec<String> {
    let number = step.step;
    let mut metadata = BTreeMap::from([("step".to_owned(), number.to_string())]);
    if let Some(place) = step.place.filter(|it| !it.trim().is_empty()) {
        metadata.insert("location".to_owned(), place);
    }
    let mut ids = Vec::new();
    if let Some(action) = step_text(&step.action) {
        ids.extend(builder.push(NewTurn {
            id: format!("{number}.action"),
            speaker: step.agent.unwrap_or_else(|| "agent".to_owned()),
            text: action,
            timestamp: step.time.clone(),
            metadata: metadata.clone(),
            ..NewTurn::default()
        }));
    }
    let observation = step_text(&step.observation);
    if observation.is_some() || step.caption.is_some() {
        ids.extend(builder.push(NewTurn {
            id: format!("{number}.observation"),
            speaker: ENVIRONMENT.to_owned(),
            text: observation.unwrap_or_default(),
            timestamp: step.time,
            image_caption: step.caption,
            image_uri: step.image,
            metadata,
        }));
    }
    ids
}

/// Returns an action or an observation as text; an object becomes JSON.
fn step_text(value: &Value) -> Option<String> {
    if value.is_object() {
        Some(value.to_string())
    } else {
        value_to_text(value)
    }
}
