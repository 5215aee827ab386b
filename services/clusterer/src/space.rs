//! Types that all derivations of a space share: the decisions of users, the result of a pass, errors, the language of a
//! page, and maps.

pub(crate) mod acts;
pub(crate) mod changes;
pub(crate) mod error;
pub(crate) mod hidden_units;
pub(crate) mod id_map;
pub(crate) mod named_entity;
pub(crate) mod ordered_numbers;
pub(crate) mod page_language;
pub(crate) mod small_map;
pub(crate) mod sorted_chunks;
pub(crate) mod spill_file;
pub(crate) mod symbols;
pub(crate) mod word_set;
