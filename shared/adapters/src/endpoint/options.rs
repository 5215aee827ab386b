use std::fmt;

use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::EndpointError;

/// Settings in `[embeddings]`: where the endpoint is, and how its model wants to be asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Its address up to the version, as `http://127.0.0.1:11434/v1`; empty: no endpoint is asked.
    pub url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Sent as `Authorization: Bearer`; empty: nothing is sent. Never printed.
    pub key: String,
    /// What the model wants to read before a text that is kept, as `search_document: `.
    pub before_text: String,
    /// What it wants to read before a question, as `search_query: `.
    pub before_question: String,
    /// Most texts of one request.
    pub texts_max: usize,
    /// Time for one request, seconds.
    pub timeout_secs: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: String::new(),
            model: String::new(),
            key: String::new(),
            before_text: String::new(),
            before_question: String::new(),
            texts_max: 64,
            timeout_secs: 30,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("key", &"***")
            .field("before_text", &self.before_text)
            .field("before_question", &self.before_question)
            .field("texts_max", &self.texts_max)
            .field("timeout_secs", &self.timeout_secs)
            .finish()
    }
}

impl Options {
    /// Returns the name that vectors of `dimension` values go by: the same model gives the same ones elsewhere, and others if
    /// it reads something else before a text.
    pub(super) fn name(&self, dimension: usize) -> String {
        match self.before_text.as_str() {
            "" => format!("{}-{dimension}", self.model),
            before => format!("{}-{dimension} after {before:?}", self.model),
        }
    }

    /// Returns where vectors are asked for.
    ///
    /// # Errors
    /// `Options` if one of them cannot be used.
    pub(super) fn address(&self) -> Result<Url, EndpointError> {
        let wrong = |why: &str| EndpointError::Options(why.to_owned());
        let url = format!("{}/embeddings", self.url.trim_end_matches('/'));
        let url = Url::parse(&url).map_err(|error| EndpointError::Options(format!("`url` is no address: {error}")))?;
        match url.scheme() {
            "http" => {}
            "https" if cfg!(feature = "https") => {}
            "https" => return Err(wrong("`url` wants TLS: build with `--features https`")),
            _ => return Err(wrong("`url` starts with http:// or https://")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("`url` has no place for credentials: use `key`"));
        }
        if self.model.is_empty() {
            return Err(wrong("`model` is missing: the name of the model at the endpoint"));
        }
        Ok(url)
    }
}
