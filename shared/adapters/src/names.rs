//! What the stores share about names of spaces.

use domain::id::SpaceId;

/// Comes before every character that a name may hold, and after them all.
const BEFORE: char = ' ';
const BEHIND: char = '~';

/// Returns the range, without its end, of the names that start with `prefix` and are greater than `after`.
pub(crate) fn under(prefix: &str, after: Option<&SpaceId>) -> (String, String) {
    let next = after.map(|it| format!("{it}{BEFORE}")).unwrap_or_default();
    (next.max(prefix.to_owned()), format!("{prefix}{BEHIND}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_range_holds_the_names_of_a_prefix_behind_one(
            names in proptest::collection::vec("[a-c][a-c0._-]{0,3}", 1..20), prefix in "[a-c0._-]{0,2}", after in 0..20_usize,
        ) {
            let after: Option<SpaceId> = names.get(after).map(|it| it.parse().unwrap());
            let (from, until) = under(&prefix, after.as_ref());
            for name in &names {
                let wanted = name.starts_with(&prefix) && after.as_ref().is_none_or(|it| name.as_str() > it.as_str());
                prop_assert_eq!(from <= *name && *name < until, wanted, "{} in {:?} {:?}", name, &from, &until);
            }
        }
    }
}
