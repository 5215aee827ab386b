//! Reads responses: problems become errors, bodies are parsed.

use reqwest::Response;
use serde::de::DeserializeOwned;

use super::{Error, Problem, Result};

/// Returns a successful response; otherwise the error that the problem in its body describes.
///
/// A write that is not searchable, or never will be, has its own error: only members of the problem tell the two apart.
pub(super) async fn check_status(response: Response) -> Result<Response> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let problem: Problem = response.json().await.unwrap_or_default();
    if problem.dead_letter.is_some() {
        let detail = problem.detail;
        return Err(Error::WriteFailed { detail });
    }
    if let Some(progress) = problem.progress {
        let detail = problem.detail;
        return Err(Error::NotWritten { detail, progress });
    }
    let known = || status.canonical_reason().unwrap_or_default().to_owned();
    let title = if problem.title.is_empty() {
        known()
    } else {
        problem.title
    };
    let detail = match (problem.kind.as_str(), problem.detail.split_once("; ")) {
        // The server advises an HTTP request, but the reader of this message types commands.
        ("urn:mnemic:problem:unknown-space", Some((what, _))) => {
            format!("{what}; `mnemic spaces list` lists the spaces, `mnemic spaces create NAME` creates one")
        }
        _ => problem.detail,
    };
    Err(Error::Refused {
        status: status.as_u16(),
        title,
        detail,
    })
}

/// Returns the body of a response, read as JSON.
pub(super) async fn read_json_body<T: DeserializeOwned>(response: Response) -> Result<T> {
    let url = response.url().clone();
    response.json().await.map_err(|source| Error::Unreadable {
        url,
        source: source.without_url(),
    })
}
