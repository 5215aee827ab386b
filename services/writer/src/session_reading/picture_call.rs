//! Fetches one picture and has it described with one call.

use domain::id::{ReadingId, SpaceId};
use domain::port::{ModelCost, ModelRole, Picture};
use domain::reading::{Reading, ReadingKind, ReadingOutcome};
use domain::record::Record;
use host::{ModelResult, UnstoredCosts, clock};
use tracing::{debug, info};

use crate::Error;
use crate::pictures::picture_caption::{check_caption, is_readable};
use crate::pictures::picture_prompt::{PROMPT, build_prompt, picture_digest};
use crate::session_reading::reading_call::start_of_tomorrow;
use crate::session_reading::reading_model::Model;
use crate::session_reading::reading_worker::{AWAY, ReadOutcome, ReadingWorker};

impl ReadingWorker {
    /// Asks the model to describe the picture of a record, and stores its reply; `former` is the reading that this
    /// one replaces. An unavailable model is waited for, an unavailable host only a few times.
    pub(crate) async fn describe_picture(
        &self,
        seer: &Model,
        space: &SpaceId,
        record: &Record,
        former: Option<&Reading>,
    ) -> Result<ReadOutcome, Error> {
        let id = ReadingId::of_picture(record.id);
        if let Some(at) = self.unstored.end_of_wait(id, clock::now()) {
            return Ok(ReadOutcome::Later(at));
        }
        let Some(allow) = self.remaining_allowance(space).await? else {
            debug!(%space, "the budget of the day is spent, a picture waits");
            return Ok(ReadOutcome::Later(start_of_tomorrow()));
        };
        // The host of a picture is not asked for it again and again while nobody can describe it.
        if let Some(rest) = seer.asker.pause_before_background_calls(ModelRole::See) {
            debug!(%space, "the language model cannot be reached, a picture waits");
            return Ok(ReadOutcome::Later(clock::now() + rest));
        }
        let uri = record.image_uri.as_deref().unwrap_or_default();
        let picture: Picture = match self.pictures.pictures.fetch_picture(uri).await {
            Ok(picture) => picture,
            Err(error) if error.may_pass() && !self.pictures.failed_fetches.count_attempt(id) => {
                debug!(%space, "the host of a picture cannot be reached, the picture waits");
                return Ok(ReadOutcome::Later(clock::now() + AWAY));
            }
            Err(error) => {
                self.pictures.failed_fetches.forget_attempts(id);
                self.unstored.forget_attempts(id);
                let reading = new_reading(seer, record, former);
                let failed = Reading {
                    failure: Some(error.to_string()),
                    ..reading
                };
                return self.store_picture(space, failed, ModelCost::default()).await;
            }
        };
        self.pictures.failed_fetches.forget_attempts(id);
        let readable = |text: &str| is_readable(text).then(|| text.to_owned());
        let result: ModelResult<String> = seer
            .asker
            .ask_model(&build_prompt(picture), allow, |it| readable(&it.text))
            .await;
        let (spent, is_down) = (result.spent, self.is_model_down(seer, ModelRole::See));
        let mut reading = new_reading(seer, record, former);
        reading.spent.add_cost(spent);
        match (result.outcome, result.failure) {
            (Ok(text), _) => {
                reading.outcome.left_out = check_caption(&text).left_out;
                reading.output = text;
            }
            (Err(why), Some(kind)) if !self.unstored.count_failed_call(id, kind, spent, is_down) => {
                debug!(why, %space, "the language model cannot describe a picture, which waits");
                let now = clock::now();
                self.unstored.add_failed(space, spent, is_down, now);
                return Ok(ReadOutcome::Later(
                    self.unstored.postpone_question(id, spent, is_down, now),
                ));
            }
            (Err(_), None) if spent.calls == 0 => return Ok(ReadOutcome::Later(start_of_tomorrow())),
            (Err(why), _) => reading.failure = Some(why),
        }
        self.unstored.forget_attempts(id);
        self.store_picture(space, reading, spent).await
    }

    /// Stores a reading of a picture. `spent` is the cost of the calls made for it now.
    async fn store_picture(&self, space: &SpaceId, reading: Reading, spent: ModelCost) -> Result<ReadOutcome, Error> {
        let mut pending = self.unstored.open_pending(space);
        pending.add_cost(spent);
        if let Some(why) = &reading.failure {
            info!(why, %space, reading = %reading.id, "a picture is not described");
        }
        let readings = &self.context.backends.readings;
        if readings.put(space, std::slice::from_ref(&reading)).await?.is_empty() {
            debug!(%space, "a record was erased while its picture was described; the description is dropped");
        } else {
            pending.settle();
        }
        Ok(ReadOutcome::Done)
    }
}

/// Returns a reading of the picture of a record, without a result.
fn new_reading(seer: &Model, record: &Record, former: Option<&Reading>) -> Reading {
    let now = clock::now();
    Reading {
        id: ReadingId::of_picture(record.id),
        kind: ReadingKind::Picture,
        session: record.session,
        records: vec![record.id],
        beside: Vec::new(),
        earlier: Vec::new(),
        digest: picture_digest(record),
        prompt: PROMPT.to_owned(),
        model: seer.name.clone(),
        at: now,
        output: String::new(),
        failure: None,
        outcome: ReadingOutcome::default(),
        spent: UnstoredCosts::cost_of_replaced_reading(former, now),
    }
}
