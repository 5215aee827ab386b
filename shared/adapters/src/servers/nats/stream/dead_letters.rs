use async_nats::Message;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::Info;
use async_trait::async_trait;
use chrono::DateTime;
use domain::port::{DeadLetter, DeadLetterId, DeadLetters, Position, Result};
use domain::{Classify, ErrorKind, PortError};
use serde_json::{Value, json};

use crate::servers::nats::stream::stream_operations::RawMessage;
use crate::servers::nats::wire::{self, names};
use crate::servers::nats::{Core, NatsBus};

/// Maximum length of a reason, in characters.
const REASON_MAX: usize = 2_000;

/// A delivery that is about to become a dead letter.
pub(crate) struct AbandonedDelivery<'a> {
    pub(crate) subject: &'a str,
    pub(crate) group: &'a str,
    pub(crate) message: &'a Message,
    pub(crate) sequence: u64,
    pub(crate) attempt: u32,
    pub(crate) reason: &'a str,
}

/// Stores a message as a dead letter and returns its id, or `None` if its space was erased.
pub(crate) async fn store_dead_letter(core: &Core, given: &AbandonedDelivery<'_>) -> Result<Option<DeadLetterId>> {
    const OPERATION: &str = "bus.dead_letter";
    let frame = wire::frame_of(given.subject, given.message);
    let mut headers = wire::headers_of_frame(OPERATION, &frame)?;
    let first = given
        .message
        .headers
        .as_ref()
        .and_then(|it| wire::number_header(it, wire::POSITION));
    let reason: String = given.reason.chars().take(REASON_MAX).collect();
    for (name, value) in [
        (wire::SUBJECT, given.subject),
        (wire::GROUP, given.group),
        (wire::POSITION, &first.unwrap_or(given.sequence).to_string()),
        (wire::REASON, &reason),
        (wire::ATTEMPTS, &given.attempt.to_string()),
    ] {
        wire::set_header(&mut headers, name, value);
    }
    // A dead letter that is stored but not yet terminated is delivered again, and must not be stored twice.
    let id = ["dead", given.subject, given.group, &given.sequence.to_string()];
    headers.insert(wire::ID, names::message_id(&id).as_str());
    let subject = core.names.dead_letter_subject(&frame.space);
    let stored = core
        .link
        .store_message(OPERATION, &subject, headers, &frame.payload)
        .await?;
    // Checked after storing: an erasure writes its note before it purges, so one of the two sees the other.
    if core
        .last_erasure(OPERATION, given.subject, &frame.space)
        .await?
        .sequence
        >= given.sequence
    {
        delete_dead_letter(core, OPERATION, stored.sequence).await?;
        return Ok(None);
    }
    Ok(Some(stored.sequence))
}

#[async_trait]
impl DeadLetters for NatsBus {
    async fn list(&self, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let all = self.core.names.all_dead();
        list_dead_letters(&self.core, "dead_letters.list", &all, after, limit).await
    }

    async fn of_space(&self, space: &str, after: DeadLetterId, limit: usize) -> Result<Vec<DeadLetter>> {
        let own = self.core.names.dead_letter_subject(space);
        list_dead_letters(&self.core, "dead_letters.of_space", &own, after, limit).await
    }

    async fn count(&self) -> Result<u64> {
        let ask = format!("STREAM.INFO.{}", self.core.names.dead_stream());
        let info: Info = self.core.link.call_api("dead_letters.count", &ask, &json!({})).await?;
        Ok(info.state.messages)
    }

    async fn amend(&self, id: DeadLetterId, payload: &[u8]) -> Result<()> {
        const OPERATION: &str = "dead_letters.amend";
        let core = &self.core;
        let mut message = read_dead_letter(core, OPERATION, id).await?;
        let DeadLetter {
            subject,
            space,
            position,
            ..
        } = dead_letter(&message);
        let original = original_id(&message).to_string();
        wire::set_header(&mut message.headers, wire::AMENDS, &original);
        // A new id each time: of two amendments at the same time, each may remove only the letter that it stored.
        message.headers.insert(wire::ID, core.link.fresh_id().as_str());
        let place = core.names.dead_letter_subject(&space);
        let stored = core
            .link
            .store_message(OPERATION, &place, message.headers, payload)
            .await?;
        // As in `store_dead_letter`: the space may have been erased meanwhile.
        if core.last_erasure(OPERATION, &subject, &space).await?.sequence >= position.0 {
            delete_dead_letter(core, OPERATION, stored.sequence).await?;
        }
        if delete_dead_letter(core, OPERATION, id).await? {
            return Ok(());
        }
        // The letter was replayed, discarded or amended meanwhile, so it must not come back under another id.
        delete_dead_letter(core, OPERATION, stored.sequence).await?;
        Err(missing_error(OPERATION, id))
    }

    async fn replay(&self, id: DeadLetterId) -> Result<()> {
        const OPERATION: &str = "dead_letters.replay";
        let core = &self.core;
        let message = read_dead_letter(core, OPERATION, id).await?;
        let letter = dead_letter(&message);
        let frame = wire::frame_from_headers(&letter.subject, &message.headers, &message.payload);
        let mut headers = wire::headers_of_frame(OPERATION, &frame)?;
        wire::set_header(&mut headers, wire::POSITION, &letter.position.0.to_string());
        // If the old letter is not deleted, it may be replayed again; the message is then still stored only once.
        let message_id = names::message_id(&["replay", &id.to_string()]);
        headers.insert(wire::ID, message_id.as_str());
        let partitions = core.partitions_of_subject(OPERATION, &letter.subject)?;
        let group = names::group_token(&letter.group);
        let subject = core
            .names
            .message_subject(&letter.subject, partitions, &group, &letter.space);
        core.link
            .store_message(OPERATION, &subject, headers, &frame.payload)
            .await?;
        delete_with_amendments(core, OPERATION, &message).await
    }

    async fn discard(&self, id: DeadLetterId) -> Result<()> {
        const OPERATION: &str = "dead_letters.discard";
        let core = &self.core;
        let message = read_dead_letter(core, OPERATION, id).await?;
        let letter = dead_letter(&message);
        // The note is written first, so that a discard that is interrupted between the two steps is repeated, not left
        // half done.
        let note = core
            .names
            .discard_note_subject(&letter.subject, &letter.space, letter.position.0);
        let mut headers = async_nats::HeaderMap::new();
        headers.insert(wire::ID, core.link.fresh_id().as_str());
        core.link.store_message(OPERATION, &note, headers, &[]).await?;
        delete_with_amendments(core, OPERATION, &message).await
    }
}

/// Reads up to `limit` dead letters after an id, under a subject; one request for each.
async fn list_dead_letters(
    core: &Core,
    operation: &'static str,
    subject: &str,
    after: DeadLetterId,
    limit: usize,
) -> Result<Vec<DeadLetter>> {
    let stream = core.names.dead_stream();
    let mut found: Vec<DeadLetter> = Vec::new();
    while found.len() < limit {
        let after = found.last().map_or(after, |it| it.id);
        let ask = RawMessage::next_of_subject(subject, after.saturating_add(1));
        let Some(next) = core.read_message(operation, &stream, ask).await? else {
            break;
        };
        found.push(dead_letter(&next));
    }
    Ok(found)
}

async fn read_dead_letter(core: &Core, operation: &'static str, id: DeadLetterId) -> Result<StreamMessage> {
    let ask = RawMessage::at_sequence(id);
    let found = core.read_message(operation, &core.names.dead_stream(), ask).await?;
    found.ok_or_else(|| missing_error(operation, id))
}

fn missing_error(operation: &'static str, id: DeadLetterId) -> PortError {
    PortError::new(operation, ErrorKind::NotFound, format!("there is no dead letter {id}"))
}

/// Deletes a dead letter whose message was replayed or discarded. If the letter was amended meanwhile, its amendments
/// are deleted instead; finding them takes one request for each later letter of the space.
async fn delete_with_amendments(core: &Core, operation: &'static str, message: &StreamMessage) -> Result<()> {
    if delete_dead_letter(core, operation, message.sequence).await? {
        return Ok(());
    }
    let space = dead_letter(message).space;
    let (stream, of_space) = (core.names.dead_stream(), core.names.dead_letter_subject(&space));
    let mut last = message.sequence;
    loop {
        let ask = RawMessage::next_of_subject(&of_space, last.saturating_add(1));
        let Some(next) = core.read_message(operation, &stream, ask).await? else {
            return Ok(());
        };
        last = next.sequence;
        if original_id(&next) == original_id(message) {
            delete_dead_letter(core, operation, last).await?;
        }
    }
}

/// Returns the id that a dead letter had before it was amended.
fn original_id(message: &StreamMessage) -> DeadLetterId {
    wire::number_header(&message.headers, wire::AMENDS).unwrap_or(message.sequence)
}

/// Deletes a dead letter. Returns false if it does not exist. Of several calls at the same time, only one returns true.
async fn delete_dead_letter(core: &Core, operation: &'static str, id: DeadLetterId) -> Result<bool> {
    let subject = format!("STREAM.MSG.DELETE.{}", core.names.dead_stream());
    match core
        .link
        .call_api::<Value>(operation, &subject, &json!({ "seq": id }))
        .await
    {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn dead_letter(message: &StreamMessage) -> DeadLetter {
    let text = |name| wire::text_header(&message.headers, name).unwrap_or_default();
    let number = |name| wire::number_header(&message.headers, name).unwrap_or(0);
    DeadLetter {
        id: message.sequence,
        subject: text(wire::SUBJECT),
        group: text(wire::GROUP),
        space: text(wire::SPACE),
        position: Position(number(wire::POSITION)),
        reason: text(wire::REASON),
        attempts: u32::try_from(number(wire::ATTEMPTS)).unwrap_or(u32::MAX),
        at: DateTime::from_timestamp(message.time.unix_timestamp(), message.time.nanosecond()).unwrap_or_default(),
        payload: String::from_utf8_lossy(&message.payload).into_owned(),
    }
}
