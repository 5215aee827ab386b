//! Pages of lists: bounds, and where the next one starts.

use std::str::FromStr;

use serde::Serialize;

use crate::problem::Problem;
use crate::seal::Sealer;
use crate::state::App;

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

    /// Returns what restricts the list, as text.
    fn restriction(&self) -> Result<String, Problem>;

    /// Returns the number of items wanted.
    fn limit(&self) -> Result<usize, Problem> {
        match self.wanted().unwrap_or(LIMIT_DEFAULT) {
            limit @ 1..=LIMIT_MAX => Ok(limit as usize),
            _ => Err(Problem::invalid(format!("limit: is not 1 to {LIMIT_MAX}"))),
        }
    }
}

/// The cursors of one list: what is listed, of whom, and what restricts it. They open no other list.
pub(crate) struct Cursors<'a> {
    sealer: &'a Sealer,
    list: &'static str,
    of: String,
    restriction: String,
}

impl<'a> Cursors<'a> {
    /// Returns the cursors of a list that is called `list`, `of` a space or whatever else the list belongs to.
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

    /// Reads the cursor that was given; none at the start.
    pub(crate) fn start<T: FromStr>(&self, paging: &impl Paged) -> Result<Option<T>, Problem> {
        let read = |text: &str| {
            let plain = self.sealer.open(&self.about(), text);
            let key = plain.and_then(|it| String::from_utf8(it).ok()?.parse().ok());
            key.ok_or_else(Problem::cursor)
        };
        paging.after().filter(|it| !it.is_empty()).map(read).transpose()
    }

    /// Returns the cursor that goes on behind `key`.
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
