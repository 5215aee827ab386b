//! A space as the router holds it: the view of its turns, its derived objects, and the part that a filter selects.

pub mod memory;
mod numbered_values;
pub mod scope;
pub mod unit_filter;
pub mod view;
