//! Pages of lists: bounds, and where the next one starts.

use std::str::FromStr;

use serde::Serialize;

use crate::problem::Problem;

const LIMIT_DEFAULT: u32 = 100;
const LIMIT_MAX: u32 = 1_000;

/// A page of a list.
pub(crate) trait Listed {
    /// What is listed.
    type Item: Serialize;

    /// Joins the items and the `after` of the next page.
    fn page(items: Vec<Self::Item>, next: Option<String>) -> Self;
}

/// Parameters that say which page is wanted.
pub(crate) trait Paged {
    /// The cursor as given.
    fn after(&self) -> Option<&str>;

    /// The number of items as given.
    fn wanted(&self) -> Option<u32>;

    /// Returns the number of items wanted.
    fn limit(&self) -> Result<usize, Problem> {
        match self.wanted().unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit as usize),
            _ => Err(Problem::invalid(format!("limit: is not 1 to {LIMIT_MAX}"))),
        }
    }

    /// Reads the cursor; none at the start.
    fn start<T: FromStr>(&self) -> Result<Option<T>, Problem> {
        let read = |it: &str| {
            it.parse()
                .map_err(|_| Problem::invalid("after: is not the `next` of a page"))
        };
        self.after().filter(|it| !it.is_empty()).map(read).transpose()
    }
}

/// Returns the cursor of the last item of a full page.
pub(crate) fn next<T, K: ToString>(items: &[T], limit: usize, key: impl Fn(&T) -> K) -> Option<String> {
    items
        .last()
        .filter(|_| items.len() >= limit)
        .map(|it| key(it).to_string())
}
