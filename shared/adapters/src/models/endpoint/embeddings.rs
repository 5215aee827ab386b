//! An embedder over HTTP.

use async_trait::async_trait;
use domain::port::{self, Embedder, Embedding};
use domain::{Classify, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{Instrument, info_span};

use super::{Address, Caller, EndpointError};
use crate::Secret;
use crate::models::vectors::{has_words, normalise_vector};

/// Number of bytes of a text that are sent; parts of turns have fewer.
const TEXT_BYTES_MAX: usize = 8_192;
/// Maximum size of an answer, in bytes per text: a vector of eight thousand values, written in full.
const ANSWER_BYTES_MAX: usize = 256 * 1_024;

/// Settings in `[embeddings]`: the endpoint and how to call its model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Base address up to the version, for example `http://127.0.0.1:11434/v1`; if empty, no endpoint is called.
    pub url: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// Sent as `Authorization: Bearer`; if empty, no key is sent.
    pub key: Secret,
    /// Prefix that the model expects before a stored text, for example `search_document: `.
    pub before_text: String,
    /// Prefix that the model expects before a question, for example `search_query: `.
    pub before_question: String,
    /// Maximum number of texts in one request.
    pub texts_max: usize,
    /// Timeout of one request, in seconds.
    pub timeout_secs: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            url: String::new(),
            model: String::new(),
            key: Secret::default(),
            before_text: String::new(),
            before_question: String::new(),
            texts_max: 64,
            timeout_secs: 30,
        }
    }
}

impl Options {
    /// Returns the model name for vectors of `dimension` values. It does not contain the address, because the same
    /// model gives the same vectors elsewhere. It contains the prefix of texts, which changes the vectors.
    fn model_name(&self, dimension: usize) -> String {
        match self.before_text.as_str() {
            "" => format!("{}-{dimension}", self.model),
            before => format!("{}-{dimension} after {before:?}", self.model),
        }
    }
}

/// Embeds through an endpoint.
pub struct Embeddings {
    caller: Caller,
    options: Options,
    name: String,
    dimension: usize,
}

#[derive(Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct EmbeddingsReply {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    index: usize,
    embedding: Embedding,
}

impl Embeddings {
    /// Connects, and requests one vector to learn the dimension.
    ///
    /// # Errors
    ///
    /// If the options cannot be used, or the endpoint does not return vectors.
    pub async fn connect(options: &Options) -> Result<Embeddings, EndpointError> {
        let caller = Caller::new(&Address {
            section: "embeddings",
            url: &options.url,
            path: "embeddings",
            model: &options.model,
            key: &options.key,
            timeout_secs: options.timeout_secs,
        })?;
        let mut embeddings = Embeddings {
            caller,
            name: String::new(),
            options: options.clone(),
            dimension: 0,
        };
        let tried = embeddings.request_vectors(&["a".to_owned()]).await?;
        embeddings.dimension = tried.first().map_or(0, Vec::len);
        embeddings.name = options.model_name(embeddings.dimension);
        Ok(embeddings)
    }

    /// Returns one vector per text, in order; each text is sent with the prefix `before`.
    async fn embed_texts(&self, before: &str, texts: &[&str]) -> Result<Vec<Embedding>, EndpointError> {
        let mut vectors = vec![vec![0.0; self.dimension]; texts.len()];
        let worded: Vec<usize> = (0..texts.len()).filter(|at| has_words(texts[*at])).collect();
        for some in worded.chunks(self.options.texts_max.max(1)) {
            let sent = |at: &usize| {
                format!(
                    "{before}{}",
                    &texts[*at][..texts[*at].floor_char_boundary(TEXT_BYTES_MAX)]
                )
            };
            let texts: Vec<String> = some.iter().map(sent).collect();
            for (at, vector) in some.iter().zip(self.request_vectors(&texts).await?) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }

    async fn request_vectors(&self, input: &[String]) -> Result<Vec<Embedding>, EndpointError> {
        let span = info_span!(
            "embeddings",
            otel.kind = "client",
            model = self.options.model,
            texts = input.len()
        );
        let request = EmbeddingsRequest {
            model: &self.options.model,
            input,
            encoding_format: "float",
        };
        let answered = self.caller.post_json(&request, ANSWER_BYTES_MAX * input.len());
        self.check_vectors(answered.instrument(span).await?, input.len())
    }

    /// Returns one vector of length 1 per text, in the order of the texts.
    fn check_vectors(
        &self,
        EmbeddingsReply { mut data }: EmbeddingsReply,
        texts: usize,
    ) -> Result<Vec<Embedding>, EndpointError> {
        data.sort_by_key(|it| it.index);
        if !data.iter().map(|it| it.index).eq(0..texts) {
            let vectors = data.len();
            return Err(self
                .caller
                .malformed_answer_error(format!("it returns {vectors} vectors for {texts} texts")));
        }
        let wanted = match self.dimension {
            0 => data[0].embedding.len().max(1),
            known => known,
        };
        let other = |it: &&Vector| it.embedding.len() != wanted || it.embedding.iter().any(|it| !it.is_finite());
        if let Some(other) = data.iter().find(other) {
            let values = other.embedding.len();
            return Err(self.caller.malformed_answer_error(format!(
                "it returns a vector of {values} values instead of {wanted} numbers"
            )));
        }
        Ok(data.into_iter().map(|it| normalise_vector(it.embedding)).collect())
    }
}

#[async_trait]
impl Embedder for Embeddings {
    fn model(&self) -> &str {
        &self.name
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn reads_sentences(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[String]) -> port::Result<Vec<Embedding>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.embed_texts(&self.options.before_text, &texts)
            .await
            .map_err(to_port_error)
    }

    async fn embed_question(&self, question: &str) -> port::Result<Embedding> {
        let vectors = self.embed_texts(&self.options.before_question, &[question]).await;
        Ok(vectors.map_err(to_port_error)?.pop().unwrap_or_default())
    }
}

fn to_port_error(error: EndpointError) -> PortError {
    PortError::new("embedder.embed", error.kind(), "the embeddings endpoint failed").caused_by(error)
}
