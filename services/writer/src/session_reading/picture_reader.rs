//! What has pictures described: a model that sees.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use domain::id::{RecordId, SpaceId};
use domain::port::ModelRole;
use host::{Asker, Context, PictureError, PictureOptions, Pictures, UnstoredCosts};

use crate::intake::organise::Organiser;
use crate::session_reading::reading_config::ReadingConfig;
use crate::session_reading::reading_model::Model;

/// The components that describe pictures.
pub(crate) struct PictureReader {
    /// The model that describes pictures. None if pictures are not described here; captions then come from stored
    /// readings only.
    pub(crate) seer: Option<Model>,
    /// Fetches the pictures.
    pub(crate) pictures: Pictures,
    /// The failed attempts to fetch each picture. Those to describe it are counted apart from them, so that a host that
    /// is down does not use up the attempts of the model, nor the other way round.
    pub(super) failed_fetches: UnstoredCosts,
    pub(super) organiser: Arc<Organiser>,
    /// Records whose units have a new caption while their events may not have it yet.
    pub(super) unorganised: Mutex<BTreeSet<(SpaceId, RecordId)>>,
}

impl PictureReader {
    /// Returns a reader. It calls a model only if that is enabled and one is configured.
    ///
    /// # Errors
    /// Returns an error if the options are invalid.
    pub(crate) fn new(
        context: &Context,
        readings: &ReadingConfig,
        options: &PictureOptions,
        organiser: Arc<Organiser>,
    ) -> Result<PictureReader, PictureError> {
        let is_wanted = readings.enabled && options.enabled;
        let seer = Asker::new(context).filter(|_| is_wanted).and_then(|asker| {
            let name = asker.model_name(ModelRole::See)?.to_owned();
            Some(Model { asker, name })
        });
        Ok(PictureReader {
            seer,
            pictures: Pictures::new(options)?,
            failed_fetches: UnstoredCosts::default(),
            organiser,
            unorganised: Mutex::default(),
        })
    }

    pub(super) fn lock_unorganised(&self) -> std::sync::MutexGuard<'_, BTreeSet<(SpaceId, RecordId)>> {
        self.unorganised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
