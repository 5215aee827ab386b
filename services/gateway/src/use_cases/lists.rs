//! Lists of stored items in pages, and the views of items that they show.

pub(crate) mod derived_items;
pub(crate) mod facts;
pub(crate) mod list_page;
pub(crate) mod merged_units;
pub(crate) mod pages;
pub(crate) mod record_selection;
