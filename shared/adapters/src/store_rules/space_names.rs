//! Shared code of the stores for names of spaces.

use domain::id::SpaceId;

/// Characters that sort before and after every character of a name.
const BEFORE: char = ' ';
const BEHIND: char = '~';

/// Returns the half-open range of the names that start with `prefix` and are greater than `after`.
pub(crate) fn range_with_prefix(prefix: &str, after: Option<&SpaceId>) -> (String, String) {
    let next = after.map(|it| format!("{it}{BEFORE}")).unwrap_or_default();
    (next.max(prefix.to_owned()), format!("{prefix}{BEHIND}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_range_contains_exactly_the_names_with_a_prefix_after_a_name(
            names in proptest::collection::vec("[a-c][a-c0._-]{0,3}", 1..20), prefix in "[a-c0._-]{0,2}", after in 0..20_usize,
        ) {
            let after: Option<SpaceId> = names.get(after).map(|it| it.parse().unwrap());
            let (from, until) = range_with_prefix(&prefix, after.as_ref());
            for name in &names {
                let wanted = name.starts_with(&prefix) && after.as_ref().is_none_or(|it| name.as_str() > it.as_str());
                prop_assert_eq!(from <= *name && *name < until, wanted, "{} in {:?} {:?}", name, &from, &until);
            }
        }
    }
}
