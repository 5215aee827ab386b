//! Pagination: the start of the next page of a list.

use std::str::FromStr;

use crate::api::Paged;
use crate::api::problem::Problem;
use crate::app::seal::Sealer;
use crate::app::state::App;

/// Cursors of one list. They are bound to the list, its owner and its filters, and no other list accepts them.
pub(crate) struct Cursors<'a> {
    sealer: &'a Sealer,
    list: &'static str,
    of: String,
    restriction: String,
}

impl<'a> Cursors<'a> {
    /// Returns the cursors of the list `list`, owned by `of`: a space, or another owner.
    pub(crate) async fn for_list(
        app: &'a App,
        list: &'static str,
        of: &str,
        paging: &impl Paged,
    ) -> Result<Cursors<'a>, Problem> {
        Ok(Cursors {
            sealer: app.sealer().await?,
            list,
            of: of.to_owned(),
            restriction: paging.filter_text()?,
        })
    }

    /// Returns the position in the given cursor; `None` at the start of the list.
    pub(crate) fn start_position<T: FromStr>(&self, paging: &impl Paged) -> Result<Option<T>, Problem> {
        let read = |text: &str| {
            let plain = self.sealer.open_value(&self.seal_context(), text);
            let key = plain.and_then(|it| String::from_utf8(it).ok()?.parse().ok());
            key.ok_or_else(Problem::invalid_cursor)
        };
        paging.after_cursor().filter(|it| !it.is_empty()).map(read).transpose()
    }

    /// Returns the cursor that continues after `key`.
    pub(crate) fn cursor_after(&self, key: impl ToString) -> Result<String, Problem> {
        self.sealer.seal_value(&self.seal_context(), key.to_string().as_bytes())
    }

    /// Returns the cursor of the last item of a full page.
    pub(crate) fn next_cursor<T, K: ToString>(
        &self,
        items: &[T],
        limit: usize,
        key: impl Fn(&T) -> K,
    ) -> Result<Option<String>, Problem> {
        let last = items.last().filter(|_| items.len() >= limit);
        last.map(|it| self.cursor_after(key(it))).transpose()
    }

    fn seal_context(&self) -> [&str; 4] {
        ["cursor", self.list, &self.of, &self.restriction]
    }
}
