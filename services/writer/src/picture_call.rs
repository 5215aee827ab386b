//! Fetches one picture and has it described with one call.

use domain::ErrorKind;
use domain::id::{ReadingId, SpaceId};
use domain::port::{ModelRole, Picture};
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use host::{Asked, clock};
use tracing::{debug, info};

use crate::Error;
use crate::picture_caption::{caption, is_readable};
use crate::picture_prompt::{PROMPT, digest, prompt};
use crate::reading_call::{is_away, tomorrow};
use crate::reading_worker::{AWAY, Model, Read, ReadingWorker};

impl ReadingWorker {
    /// Asks the model to describe the picture of a record, and stores its reply; `former` is the reading that this
    /// one replaces. An unavailable model is waited for, an unavailable host only a few times.
    pub(crate) async fn picture(
        &self,
        seer: &Model,
        space: &SpaceId,
        record: &Record,
        former: Option<&Reading>,
    ) -> Result<Read, Error> {
        let Some(allow) = self.allowance(space).await? else {
            debug!(%space, "the budget of the day is spent, a picture waits");
            return Ok(Read::Later(tomorrow()));
        };
        // The host of a picture is not asked for it again and again while nobody can describe it.
        if let Some(rest) = seer.asker.rest(ModelRole::See) {
            debug!(%space, "the language model is away, a picture waits");
            return Ok(Read::Later(clock::now() + rest));
        }
        let id = ReadingId::picture(record.id);
        let uri = record.image_uri.as_deref().unwrap_or_default();
        let picture: Picture = match self.pictures.pictures.fetch(uri).await {
            Ok(picture) => picture,
            Err(error) if error.may_pass() && !self.is_too_late(id) => {
                debug!(%space, "the host of a picture is away, the picture waits");
                return Ok(Read::Later(clock::now() + AWAY));
            }
            Err(error) => {
                let reading = reading(seer, record, former);
                let failed = Reading {
                    failure: Some(error.to_string()),
                    ..reading
                };
                return self.store_picture(space, failed).await;
            }
        };
        let readable = |text: &str| is_readable(text).then(|| text.to_owned());
        let asked: Asked<String> = seer.asker.ask(&prompt(picture), allow, |it| readable(&it.text)).await;
        let mut reading = reading(seer, record, former);
        reading.spent.add(asked.spent);
        match (asked.outcome, asked.failure) {
            (Ok(text), _) => {
                reading.outcome.left_out = caption(&text).left_out;
                reading.output = text;
            }
            (Err(why), Some(kind)) if is_away(kind) && !(kind == ErrorKind::Timeout && self.is_too_late(id)) => {
                debug!(why, %space, "the language model is away, a picture waits");
                self.unstored.add_failed(space, asked.spent, kind, clock::now());
                return Ok(Read::Later(clock::now() + AWAY));
            }
            (Err(_), None) if asked.spent.calls == 0 => return Ok(Read::Later(tomorrow())),
            (Err(why), _) => reading.failure = Some(why),
        }
        self.store_picture(space, reading).await
    }

    async fn store_picture(&self, space: &SpaceId, reading: Reading) -> Result<Read, Error> {
        if let Some(why) = &reading.failure {
            info!(why, %space, reading = %reading.id, "a picture is not described");
        }
        let readings = &self.context.backends.readings;
        if readings.put(space, std::slice::from_ref(&reading)).await?.is_empty() {
            debug!(%space, "a record was erased while its picture was described; what was said of it is dropped");
            self.unstored.add(space, reading.spent, clock::now());
        }
        Ok(Read::Done)
    }
}

/// Returns a reading of the picture of a record, without a result.
fn reading(seer: &Model, record: &Record, former: Option<&Reading>) -> Reading {
    Reading {
        id: ReadingId::picture(record.id),
        kind: ReadingKind::Picture,
        session: record.session,
        records: vec![record.id],
        beside: Vec::new(),
        earlier: Vec::new(),
        digest: digest(record),
        prompt: PROMPT.to_owned(),
        model: seer.name.clone(),
        at: clock::now(),
        output: String::new(),
        failure: None,
        outcome: ReadingOutcome::default(),
        spent: former.map(|it| it.spent).unwrap_or_default(),
    }
}
