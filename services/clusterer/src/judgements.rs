//! Questions to a language model that rules cannot decide: pairs of events and of names, topic labels, page summaries.
//! Pure functions: they make the prompts and check the replies.

pub(crate) mod coreference;
#[cfg(test)]
pub(crate) mod example;
mod grounding;
pub(crate) mod labels;
pub(crate) mod model_sentence;
pub(crate) mod people;
pub(crate) mod reading_lookup;
mod reply_schema;
pub(crate) mod summaries;
