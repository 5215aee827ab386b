use domain::port::SearchResult;

use crate::edges::Related;
use crate::memory::Known;

/// What leads to evidence beside the words of a question.
#[derive(Clone, Copy)]
pub struct Leads<'a> {
    /// Hits of the index.
    pub found: &'a SearchResult,
    /// The relations of the best of them.
    pub related: &'a Related,
    /// What is derived of the space, as it was known at the moment asked about.
    pub known: Known<'a>,
}
