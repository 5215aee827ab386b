//! An embedder over HTTP.

use async_trait::async_trait;
use domain::port::{self, Embedder, Embedding};
use domain::{Classify, PortError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{Instrument, info_span};

use super::{Address, Caller, EndpointError};
use crate::Secret;
use crate::embed::{has_words, normalised};

/// Bytes of a text that are sent; parts of turns have fewer.
const TEXT_BYTES_MAX: usize = 8_192;
/// Bytes of an answer that are read, a text: a vector of eight thousand values in full.
const ANSWER_BYTES_MAX: usize = 256 * 1_024;

/// Settings in `[embeddings]`: where the endpoint is, and how its model wants to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Its address up to the version, as `http://127.0.0.1:11434/v1`; empty: no endpoint is asked.
    pub url: String,
    /// The model, as the endpoint calls it.
    pub model: String,
    /// Sent as `Authorization: Bearer`; empty: nothing is sent.
    pub key: Secret,
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
            key: Secret::default(),
            before_text: String::new(),
            before_question: String::new(),
            texts_max: 64,
            timeout_secs: 30,
        }
    }
}

impl Options {
    /// Returns the name that vectors of `dimension` values go by: the same model gives the same ones elsewhere, and others if
    /// it reads something else before a text.
    fn name(&self, dimension: usize) -> String {
        match self.before_text.as_str() {
            "" => format!("{}-{dimension}", self.model),
            before => format!("{}-{dimension} after {before:?}", self.model),
        }
    }
}

/// Embeds by asking an endpoint.
pub struct Embeddings {
    caller: Caller,
    options: Options,
    name: String,
    dimension: usize,
}

#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answered {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    index: usize,
    embedding: Embedding,
}

impl Embeddings {
    /// Asks for one vector, to know how long they are.
    ///
    /// # Errors
    /// Options that cannot be used; an endpoint that does not answer with vectors.
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
        let tried = embeddings.ask(&["a".to_owned()]).await?;
        embeddings.dimension = tried.first().map_or(0, Vec::len);
        embeddings.name = options.name(embeddings.dimension);
        Ok(embeddings)
    }

    /// Returns a vector a text, in order, each read with `before` before it.
    async fn vectors(&self, before: &str, texts: &[&str]) -> Result<Vec<Embedding>, EndpointError> {
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
            for (at, vector) in some.iter().zip(self.ask(&texts).await?) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }

    async fn ask(&self, input: &[String]) -> Result<Vec<Embedding>, EndpointError> {
        let span = info_span!(
            "embeddings",
            otel.kind = "client",
            model = self.options.model,
            texts = input.len()
        );
        let asked = Asked {
            model: &self.options.model,
            input,
            encoding_format: "float",
        };
        let answered = self.caller.ask(&asked, ANSWER_BYTES_MAX * input.len());
        self.checked(answered.instrument(span).await?, input.len())
    }

    /// Returns a vector of length 1 a text, in the order of the texts.
    fn checked(&self, Answered { mut data }: Answered, texts: usize) -> Result<Vec<Embedding>, EndpointError> {
        data.sort_by_key(|it| it.index);
        if !data.iter().map(|it| it.index).eq(0..texts) {
            let vectors = data.len();
            return Err(self
                .caller
                .form(format!("it gives {vectors} vectors for {texts} texts")));
        }
        let wanted = match self.dimension {
            0 => data[0].embedding.len().max(1),
            known => known,
        };
        let other = |it: &&Vector| it.embedding.len() != wanted || it.embedding.iter().any(|it| !it.is_finite());
        if let Some(other) = data.iter().find(other) {
            let values = other.embedding.len();
            return Err(self.caller.form(format!(
                "it gives a vector of {values} values in place of {wanted} numbers"
            )));
        }
        Ok(data.into_iter().map(|it| normalised(it.embedding)).collect())
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
        self.vectors(&self.options.before_text, &texts).await.map_err(failed)
    }

    async fn embed_question(&self, question: &str) -> port::Result<Embedding> {
        let vectors = self.vectors(&self.options.before_question, &[question]).await;
        Ok(vectors.map_err(failed)?.pop().unwrap_or_default())
    }
}

fn failed(error: EndpointError) -> PortError {
    PortError::new("embedder.embed", error.kind(), "the embeddings endpoint failed").caused_by(error)
}
