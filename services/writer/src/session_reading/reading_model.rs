//! The language model that reads.

use domain::port::ModelRole;
use host::{Asker, Context};

/// The language model and its name.
pub(crate) struct Model {
    pub(crate) asker: Asker,
    pub(crate) name: String,
}

impl Model {
    pub(super) fn from_context(context: &Context) -> Option<Model> {
        let asker = Asker::new(context)?;
        let name = asker.model_name(ModelRole::Write)?.to_owned();
        Some(Model { asker, name })
    }
}
