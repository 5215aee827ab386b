//! Filters on tags and metadata in requests: as JSON in a body, or as query parameters.

use domain::filter::Filter;

use crate::api::problem::Problem;
use crate::api::{Object, at_path};

/// Longest filter in a URL, in bytes of JSON.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// Returns the filter in the field `filter` of a body if it is within its limits.
///
/// # Errors
/// 422 that names the first part that exceeds its limit.
pub(crate) fn check_filter(filter: Filter) -> Result<Filter, Problem> {
    filter.check_limits("filter").map_err(Problem::invalid_request)?;
    Ok(filter)
}

/// Returns the filter in the query parameters `tag` (one tag on each line, all required) and `filter` (JSON). A line may
/// end with a carriage return. An empty line is an empty tag, which is invalid.
///
/// # Errors
/// 422 that names the part that is invalid or exceeds its limit.
pub(crate) fn of_params(tag: Option<&str>, filter: Option<&str>) -> Result<Filter, Problem> {
    let mut read = match filter {
        None => Filter::default(),
        Some(text) if text.len() > TEXT_BYTES_MAX => {
            let bytes = text.len();
            return Err(Problem::invalid_request(format!(
                "filter: has {bytes} bytes, more than {TEXT_BYTES_MAX}"
            )));
        }
        Some(text) => {
            let mut reader = serde_json::Deserializer::from_str(text);
            let read: Result<Object<Filter>, _> = serde_path_to_error::deserialize(&mut reader);
            let Object(read) = read.map_err(|error| {
                let path = match error.path().to_string() {
                    path if path == "." || path == "?" => "filter".to_owned(),
                    path => format!("filter.{path}"),
                };
                Problem::invalid_request(at_path(&path, error.inner()))
            })?;
            reader
                .end()
                .map_err(|error| Problem::invalid_request(format!("filter: {error}")))?;
            check_filter(read)?
        }
    };
    let tags = Filter {
        tags: domain::filter::TagFilter {
            all: tag
                .into_iter()
                .flat_map(|it| it.split('\n'))
                .map(|it| it.strip_suffix('\r').unwrap_or(it).to_owned())
                .collect(),
            ..Default::default()
        },
        metadata: None,
    };
    tags.check_limits("tag")
        .map_err(|error| Problem::invalid_request(error.replacen("tag.tags.all", "tag", 1)))?;
    read.tags.all.extend(tags.tags.all);
    check_filter(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_a_filter() {
        for tags in ["work\nhome", "work\r\nhome\r"] {
            let read = of_params(Some(tags), Some(r#"{"tags":{"none":["draft"]}}"#)).unwrap();
            assert_eq!(
                (read.tags.all, read.tags.none),
                (vec!["work".to_owned(), "home".to_owned()], vec!["draft".to_owned()])
            );
        }
        assert!(of_params(None, None).unwrap().is_empty());
    }

    #[test]
    fn invalid_filters_in_parameters_are_refused_with_their_place() {
        let long = "a".repeat(10_240);
        for (tag, filter, expected) in [
            (None, Some("{"), "filter: EOF while parsing an object"),
            (None, Some("[]"), "filter: invalid type: sequence, expected an object"),
            (None, Some("{} {}"), "filter: trailing characters"),
            (
                None,
                Some(r#"{"metadata":{"and":[{"key":"a"}]}}"#),
                "filter.metadata.and[0]: names the key `a` without a test",
            ),
            (None, Some(r#"{"tag":[]}"#), "filter.tag: unknown field `tag`"),
            (Some(long.as_str()), None, "tag[0]: has 10240 bytes, more than 128"),
            (Some(""), None, "tag[0]: is empty"),
            (Some("a\n"), None, "tag[1]: is empty"),
            (Some("a\r\n\r"), None, "tag[1]: is empty"),
        ] {
            let problem = of_params(tag, filter).unwrap_err();
            assert!(problem.detail.starts_with(expected), "{}", problem.detail);
        }
    }
}
