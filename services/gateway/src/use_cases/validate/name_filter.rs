//! Names in the filters of lists; letter case is ignored.

use crate::api::problem::Problem;
use crate::use_cases::validate;

/// Longest name in a filter, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Returns a name in a filter in the form in which names are compared, or an error if it is invalid.
pub(crate) fn case_folded_name(field: &str, name: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(name) = name else { return Ok(None) };
    validate::check_content(field, name, NAME_BYTES_MAX).map_err(Problem::invalid_request)?;
    let folded = name.trim().to_lowercase();
    if folded.is_empty() {
        return Err(Problem::invalid_request(format!(
            "{field}: is empty; leave it out instead"
        )));
    }
    Ok(Some(folded))
}

/// Returns true if a name equals a name of a filter, in any letter case.
pub(crate) fn is_same_name(name: &str, folded: &str) -> bool {
    name.to_lowercase() == folded
}
