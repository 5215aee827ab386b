//! The spaces that are computed once after a start, so that questions that were open before are found again.

use std::collections::VecDeque;

use domain::ErrorKind;
use domain::id::SpaceId;

/// Number of attempts at a space whose failure a retry does not mend. A store that is away is not such a failure.
const ATTEMPTS_MAX: u32 = 3;

/// A space that was not computed yet.
pub(super) struct Uncounted {
    pub(super) space: SpaceId,
    /// Number of failed attempts.
    attempts: u32,
}

/// The spaces in the order of their turns: first the listed ones by name, then those that failed.
#[derive(Default)]
pub(super) struct SpacesToCount {
    /// Spaces of the last page that had no turn yet.
    listed: VecDeque<SpaceId>,
    failed: VecDeque<Uncounted>,
    /// The last listed space.
    last: Option<SpaceId>,
    /// Whether there is no further page.
    has_all: bool,
}

impl SpacesToCount {
    /// Returns true if the next page of spaces is needed, after [`Self::last_listed`].
    pub(super) fn needs_page(&self) -> bool {
        self.listed.is_empty() && !self.has_all
    }

    /// Returns the last listed space.
    pub(super) fn last_listed(&self) -> Option<&SpaceId> {
        self.last.as_ref()
    }

    /// Adds a page of spaces; an empty one is the last.
    pub(super) fn add_page(&mut self, spaces: impl IntoIterator<Item = SpaceId>) {
        let before = self.listed.len();
        self.listed.extend(spaces);
        match self.listed.back() {
            Some(last) if self.listed.len() > before => self.last = Some(last.clone()),
            _ => self.has_all = true,
        }
    }

    /// Takes the next space; `None` if all listed ones were computed or given up.
    pub(super) fn take_next(&mut self) -> Option<Uncounted> {
        let fresh = self.listed.pop_front().map(|space| Uncounted { space, attempts: 0 });
        fresh.or_else(|| self.failed.pop_front())
    }

    /// Lets a space that could not be computed have another turn after all others, unless it is given up.
    pub(super) fn put_back(&mut self, mut failed: Uncounted, failure: ErrorKind) {
        failed.attempts = failed.attempts.saturating_add(1);
        if failure.is_retryable() || failed.attempts < ATTEMPTS_MAX {
            self.failed.push_back(failed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(name: &str) -> SpaceId {
        name.parse().unwrap()
    }

    /// Gives each space a turn that fails like this, and returns their names.
    fn fail_all(spaces: &mut SpacesToCount, count: usize, failure: ErrorKind) -> Vec<String> {
        let turn = |_| {
            let taken = spaces.take_next()?;
            let name = taken.space.to_string();
            spaces.put_back(taken, failure);
            Some(name)
        };
        (0..count).map_while(turn).collect()
    }

    #[test]
    fn no_space_is_given_up_while_the_store_is_away() {
        let mut spaces = SpacesToCount::default();
        assert!(spaces.needs_page());
        spaces.add_page(["a", "b"].map(space));
        assert_eq!((spaces.needs_page(), spaces.last_listed()), (false, Some(&space("b"))));
        assert_eq!(fail_all(&mut spaces, 2, ErrorKind::Unavailable), ["a", "b"]);
        assert!(spaces.needs_page(), "further spaces come before those that failed");
        spaces.add_page(["c"].map(space));
        assert_eq!(fail_all(&mut spaces, 1, ErrorKind::Unavailable), ["c"]);
        spaces.add_page([]);
        assert!(!spaces.needs_page());
        for _ in 0..100 {
            assert_eq!(fail_all(&mut spaces, 3, ErrorKind::Timeout), ["a", "b", "c"]);
        }
        assert_eq!(spaces.take_next().unwrap().space, space("a"));
        assert_eq!(spaces.take_next().unwrap().space, space("b"));
        assert_eq!(spaces.take_next().unwrap().space, space("c"));
        assert!(spaces.take_next().is_none());
    }

    #[test]
    fn a_space_whose_failure_does_not_pass_is_given_up() {
        let mut spaces = SpacesToCount::default();
        spaces.add_page(["a"].map(space));
        spaces.add_page([]);
        assert_eq!(fail_all(&mut spaces, 9, ErrorKind::Damaged), ["a", "a", "a"]);
    }
}
