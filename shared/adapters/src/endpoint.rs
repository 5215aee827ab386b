//! An embedder over HTTP: whatever speaks OpenAI's embeddings API, such as Ollama, vLLM, llama.cpp and OpenAI itself.

mod options;

use std::time::Duration;

use async_trait::async_trait;
use domain::port::{self, Embedder, Embedding};
use domain::{Classify, ErrorKind, PortError};
use reqwest::{Client, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tracing::{Instrument, info_span};

use crate::embed::{has_words, normalised};
pub use options::Options;

/// Bytes of a text that are sent; parts of turns have fewer.
const TEXT_BYTES_MAX: usize = 8_192;
/// Bytes of an answer that are read, a text: a vector of eight thousand values in full.
const ANSWER_BYTES_MAX: usize = 256 * 1_024;
/// Characters of an error that are shown.
const SAID_MAX: usize = 200;

/// Why an endpoint cannot be used, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// A setting that cannot be used.
    #[error("[embeddings] {0}")]
    Options(String),
    /// Nobody answers.
    #[error("the embeddings endpoint {url} does not answer")]
    Away {
        /// What was asked.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// It answers with an error.
    #[error("the embeddings endpoint {url} answers {status}")]
    Status {
        /// What was asked.
        url: String,
        /// With what it answered.
        status: u16,
    },
    /// It answers with something that is no vector a text, or with other vectors than at the start.
    #[error("the embeddings endpoint {url} is of no use: {reason}")]
    Form {
        /// What was asked.
        url: String,
        /// What is wrong.
        reason: String,
    },
}

impl EndpointError {
    /// Says whether whoever starts should try again: the endpoint may be starting, too.
    pub fn may_be_starting(&self) -> bool {
        match self {
            EndpointError::Away { .. } => true,
            EndpointError::Status { status, .. } => *status == 429 || *status >= 500,
            EndpointError::Options(_) | EndpointError::Form { .. } => false,
        }
    }
}

impl Classify for EndpointError {
    /// Only what the endpoint says of the texts themselves will not pass: a wrong key or a missing model can be mended while
    /// messages wait.
    fn kind(&self) -> ErrorKind {
        match self {
            EndpointError::Options(_)
            | EndpointError::Status {
                status: 400 | 413 | 422,
                ..
            } => ErrorKind::Invalid,
            EndpointError::Away { source, .. } if source.is_timeout() => ErrorKind::Timeout,
            EndpointError::Away { .. } | EndpointError::Status { .. } | EndpointError::Form { .. } => {
                ErrorKind::Unavailable
            }
        }
    }
}

/// Embeds by asking an endpoint.
pub struct Endpoint {
    client: Client,
    url: Url,
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

impl Endpoint {
    /// Asks for one vector, to know how long they are.
    ///
    /// # Errors
    /// Options that cannot be used; an endpoint that does not answer with vectors.
    pub async fn connect(options: &Options) -> Result<Endpoint, EndpointError> {
        let url = options.address()?;
        let unusable = |error: reqwest::Error| EndpointError::Options(error.without_url().to_string());
        let client = Client::builder()
            .timeout(Duration::from_secs(options.timeout_secs.max(1)))
            .build()
            .map_err(unusable)?;
        let mut endpoint = Endpoint {
            client,
            url,
            name: String::new(),
            options: options.clone(),
            dimension: 0,
        };
        let tried = endpoint.ask(&["a".to_owned()]).await?;
        endpoint.dimension = tried.first().map_or(0, Vec::len);
        endpoint.name = options.name(endpoint.dimension);
        Ok(endpoint)
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
        let mut request = self.client.post(self.url.clone()).json(&asked);
        if !self.options.key.is_empty() {
            request = request.bearer_auth(&self.options.key);
        }
        let answer = async {
            let response = request.send().await.map_err(|it| self.away(it))?;
            self.read(response, ANSWER_BYTES_MAX * input.len()).await
        };
        let answered = answer.instrument(span).await?;
        self.checked(answered, input.len())
    }

    async fn read(&self, mut response: Response, bytes_max: usize) -> Result<Answered, EndpointError> {
        let status = response.status();
        if status != StatusCode::OK {
            // What it says may repeat the texts, so only its status is told.
            let (url, status) = (self.url.to_string(), status.as_u16());
            return Err(EndpointError::Status { url, status });
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|it| self.away(it))? {
            body.extend_from_slice(&chunk);
            if body.len() > bytes_max {
                return Err(self.form(format!("its answer is over {bytes_max} bytes")));
            }
        }
        serde_json::from_slice(&body).map_err(|error| self.form(format!("its answer holds no vectors: {error}")))
    }

    /// Returns a vector of length 1 a text, in the order of the texts.
    fn checked(&self, Answered { mut data }: Answered, texts: usize) -> Result<Vec<Embedding>, EndpointError> {
        data.sort_by_key(|it| it.index);
        if !data.iter().map(|it| it.index).eq(0..texts) {
            return Err(self.form(format!("it gives {} vectors for {texts} texts", data.len())));
        }
        let wanted = match self.dimension {
            0 => data[0].embedding.len().max(1),
            known => known,
        };
        let other = |it: &&Vector| it.embedding.len() != wanted || it.embedding.iter().any(|it| !it.is_finite());
        if let Some(other) = data.iter().find(other) {
            let values = other.embedding.len();
            return Err(self.form(format!(
                "it gives a vector of {values} values in place of {wanted} numbers"
            )));
        }
        Ok(data.into_iter().map(|it| normalised(it.embedding)).collect())
    }

    fn away(&self, error: reqwest::Error) -> EndpointError {
        EndpointError::Away {
            url: self.url.to_string(),
            source: error.without_url(),
        }
    }

    fn form(&self, mut reason: String) -> EndpointError {
        reason.truncate(reason.floor_char_boundary(SAID_MAX));
        let url = self.url.to_string();
        EndpointError::Form { url, reason }
    }
}

#[async_trait]
impl Embedder for Endpoint {
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
