//! Pages of lists: their size, and the start of the next page.

use std::str::FromStr;

use serde::Serialize;

use crate::problem::Problem;
use crate::seal::Sealer;
use crate::state::App;

const LIMIT_DEFAULT: u32 = 100;
const LIMIT_MAX: u32 = 1_000;

/// A page of a list.
pub(crate) trait Listed {
    /// The type of the items.
    type Item: Serialize;

    /// Returns a page of the items and the `after` of the next page.
    fn page(items: Vec<Self::Item>, next: Option<String>) -> Self;
}

/// Parameters that select a page.
pub(crate) trait Paged {
    /// Returns the cursor in the request.
    fn after(&self) -> Option<&str>;

    /// Returns the number of items in the request.
    fn wanted(&self) -> Option<u32>;

    /// Returns the filters of the list, as text.
    fn restriction(&self) -> Result<String, Problem>;

    /// Returns the maximum number of items of the page.
    fn limit(&self) -> Result<usize, Problem> {
        match self.wanted().unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit as usize),
            _ => Err(Problem::invalid(format!("limit: is not 1 to {LIMIT_MAX}"))),
        }
    }
}

/// Cursors of one list. They are bound to the list, its owner and its filters, and no other list accepts them.
pub(crate) struct Cursors<'a> {
    sealer: &'a Sealer,
    list: &'static str,
    of: String,
    restriction: String,
}

impl<'a> Cursors<'a> {
    /// Returns the cursors of the list `list`, owned by `of`: a space, or another owner.
    pub(crate) async fn of(
        app: &'a App,
        list: &'static str,
        of: &str,
        paging: &impl Paged,
    ) -> Result<Cursors<'a>, Problem> {
        Ok(Cursors {
            sealer: app.sealer().await?,
            list,
            of: of.to_owned(),
            restriction: paging.restriction()?,
        })
    }

    /// Returns the position in the given cursor; `None` at the start of the list.
    pub(crate) fn start<T: FromStr>(&self, paging: &impl Paged) -> Result<Option<T>, Problem> {
        let read = |text: &str| {
            let plain = self.sealer.open(&self.about(), text);
            let key = plain.and_then(|it| String::from_utf8(it).ok()?.parse().ok());
            key.ok_or_else(Problem::cursor)
        };
        paging.after().filter(|it| !it.is_empty()).map(read).transpose()
    }

    /// Returns the cursor that continues after `key`.
    pub(crate) fn behind(&self, key: impl ToString) -> Result<String, Problem> {
        self.sealer.seal(&self.about(), key.to_string().as_bytes())
    }

    /// Returns the cursor of the last item of a full page.
    pub(crate) fn next<T, K: ToString>(
        &self,
        items: &[T],
        limit: usize,
        key: impl Fn(&T) -> K,
    ) -> Result<Option<String>, Problem> {
        let last = items.last().filter(|_| items.len() >= limit);
        last.map(|it| self.behind(key(it))).transpose()
    }

    fn about(&self) -> [&str; 4] {
        ["cursor", self.list, &self.of, &self.restriction]
    }
}
