//! Tenant isolation: the spaces that a key opens. Other spaces are not read, so neither the contents of a list nor its
//! duration reveals anything about them.

use domain::id::SpaceId;
use domain::port::SpaceInfo;

use crate::api::problem::Problem;
use crate::app::keys::access::Access;
use crate::app::state::App;

/// A set of names that a key opens.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Names {
    /// One name.
    One(SpaceId),
    /// All names with this prefix.
    Under(String),
}

/// Returns up to `limit` spaces that the key opens, with names that start with `prefix` and are greater than `after`, by name.
pub(crate) async fn spaces_under(
    app: &App,
    access: &Access,
    prefix: &str,
    after: Option<&SpaceId>,
    limit: usize,
) -> Result<Vec<SpaceInfo>, Problem> {
    let records = &app.stores().records;
    let mut found = Vec::new();
    for names in disjoint_names(access.space_patterns())
        .into_iter()
        .filter_map(|it| it.narrow_to_prefix(prefix))
    {
        let room = limit.saturating_sub(found.len());
        if room == 0 {
            break;
        }
        match names {
            Names::One(name) if after.is_some_and(|it| name <= *it) => {}
            Names::One(name) => found.extend(records.space(&name).await?),
            Names::Under(prefix) => found.extend(records.spaces_under(&prefix, after, room).await?),
        }
    }
    Ok(found)
}

impl Names {
    /// Returns the names with this prefix; `None` if there are none.
    fn narrow_to_prefix(self, prefix: &str) -> Option<Names> {
        match self {
            Names::One(name) => name.as_str().starts_with(prefix).then_some(Names::One(name)),
            Names::Under(start) if start.starts_with(prefix) => Some(Names::Under(start)),
            Names::Under(start) => prefix.starts_with(&start).then(|| Names::Under(prefix.to_owned())),
        }
    }
}

/// Returns the names that patterns open, in order and without duplicates.
fn disjoint_names(patterns: &[String]) -> Vec<Names> {
    let mut sorted: Vec<&str> = patterns.iter().map(String::as_str).collect();
    // Sorts a prefix before the names that start with it.
    sorted.sort_by_key(|it| (it.strip_suffix('*').unwrap_or(it), !it.ends_with('*')));
    let mut all: Vec<Names> = Vec::new();
    for pattern in sorted {
        let start = pattern.strip_suffix('*').unwrap_or(pattern);
        let covered = match all.iter().rev().find(|it| matches!(it, Names::Under(_))) {
            Some(Names::Under(prefix)) => start.starts_with(prefix.as_str()),
            Some(Names::One(_)) | None => false,
        };
        let names = if pattern.ends_with('*') {
            Some(Names::Under(start.to_owned()))
        } else {
            // An invalid name opens nothing.
            start.parse().ok().map(Names::One)
        };
        all.extend(names.filter(|it| !covered && all.last() != Some(it)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_narrowed_to_a_prefix() {
        let under = |it: &str| Names::Under(it.to_owned());
        let one = |it: &str| Names::One(it.parse().unwrap());
        for (names, expected) in [
            (under(""), Some(under("mem0-"))),
            (under("mem"), Some(under("mem0-"))),
            (under("mem0-team-"), Some(under("mem0-team-"))),
            (under("team-"), None),
            (one("mem0-ann"), Some(one("mem0-ann"))),
            (one("ann"), None),
        ] {
            assert_eq!(names.narrow_to_prefix("mem0-"), expected);
        }
    }

    #[test]
    fn patterns_become_ranges_that_do_not_overlap() {
        let under = |it: &str| Names::Under(it.to_owned());
        let one = |it: &str| Names::One(it.parse().unwrap());
        for (patterns, expected) in [
            (["*", "a", "b-*"].as_slice(), vec![under("")]),
            (
                &["b", "a-*", "a", "a-b", "a-b*", "a"],
                vec![one("a"), under("a-"), one("b")],
            ),
            (
                &["a*", "ab", "b", "b", "c*", "cc"],
                vec![under("a"), one("b"), under("c")],
            ),
            (&["UPPER", ""], vec![]),
        ] {
            let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(disjoint_names(&patterns), expected, "{patterns:?}");
        }
    }
}
