//! A passage that a model is about to read.

use domain::id::SpaceId;
use domain::reading::Reading;
use domain::record::Record;

/// A passage to be read.
pub(crate) struct OpenPassage<'a> {
    pub(crate) space: &'a SpaceId,
    /// The records before it, which the model needs as context.
    pub(crate) before: Vec<Record>,
    /// The records of the passage.
    pub(crate) records: Vec<Record>,
    /// The reading that this one replaces; it was made of other records or with another prompt.
    pub(crate) former: Option<&'a Reading>,
}
