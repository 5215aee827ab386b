//! Query parameters that may be given more than once.

/// The parameter that may be given more than once. Its values are joined by line breaks, which no tag contains.
const REPEATED: &str = "tag";

/// Returns a query string with all values of `tag` in one parameter; `None` if `tag` occurs at most once.
pub(crate) fn join_repeated_tags(query: &str) -> Option<String> {
    let is_tag = |it: &&str| it.split('=').next() == Some(REPEATED);
    let values: Vec<&str> = query
        .split('&')
        .filter(is_tag)
        .filter_map(|it| it.split_once('=').map(|it| it.1))
        .collect();
    if values.len() < 2 {
        return None;
    }
    let others = query.split('&').filter(|it| !is_tag(it)).map(str::to_owned);
    let tags = format!("{REPEATED}={}", values.join("%0A"));
    Some(others.chain([tags]).collect::<Vec<String>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::join_repeated_tags;

    #[test]
    fn repeated_tags_are_joined() {
        assert_eq!(
            join_repeated_tags("limit=1&tag=a&x=tag&tag=b%20c").unwrap(),
            "limit=1&x=tag&tag=a%0Ab%20c"
        );
        for single in ["", "tag=a", "limit=1&tag=a&tags=b"] {
            assert_eq!(join_repeated_tags(single), None, "{single}");
        }
    }
}
