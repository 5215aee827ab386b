//! A sentence encoder chosen by the operator: a transformer in ONNX form, run in this process by `rten`.
//!
//! Only texts of equal length are encoded together, without padding, so that a text has the same vector alone and in a
//! batch.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use domain::port::{self, Embedder, Embedding};
use domain::{ErrorKind, PortError};
use rten::{Model, NodeId, ValueOrView};
use rten_tensor::prelude::*;
use rten_tensor::{NdTensor, NdTensorView};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationParams};
use tokio::task::spawn_blocking;

use crate::EncoderError;
use crate::models::vectors::{has_words, normalise_vector};

/// Maximum number of word pieces read from a text, including the opening and closing ones; a part of a turn has fewer.
const PIECES_MAX: usize = 256;
/// Number of word pieces encoded at once. Limits memory; larger batches are not faster.
const PIECES_AT_ONCE: usize = 2_048;
/// Number of bytes read from a text; more would not fit into [`PIECES_MAX`] in any case.
const BYTES_MAX: usize = 8_192;
/// Possible places of the model in the folder: next to the other files, or as model hubs lay it out.
const MODELS: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
/// Version of the encoding; must change if the same files give different vectors.
const READING: u32 = 1;

/// Embeds with the model in a folder.
#[derive(Clone)]
pub(crate) struct Encoder(Arc<Opened>);

struct Opened {
    name: String,
    dimension: usize,
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    tokenizer: Tokenizer,
    /// Whether the vector of the first piece represents the text, instead of the mean of all.
    first: bool,
    /// Prefixes of a text and of a question.
    before: [String; 2],
}

/// The kind of a text.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Question,
}

/// An input tensor of a model.
#[derive(Clone, Copy)]
enum Input {
    Pieces,
    Mask,
    Types,
}

/// `1_Pooling/config.json`, as sentence-transformers writes it: how the vectors of the pieces become one.
#[derive(Deserialize)]
#[serde(default)]
struct Pooling {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

/// `config_sentence_transformers.json`: the prefixes that the model expects.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reading {
    prompts: BTreeMap<String, String>,
}

impl Default for Pooling {
    fn default() -> Pooling {
        Pooling {
            pooling_mode_cls_token: false,
            pooling_mode_mean_tokens: true,
        }
    }
}

impl Encoder {
    /// Opens the encoder in `dir`: `tokenizer.json`, `model.onnx` (or `onnx/model.onnx`) and, if they exist,
    /// `1_Pooling/config.json` and `config_sentence_transformers.json`. Blocks while the model is read, and encodes one
    /// text as a test.
    ///
    /// # Errors
    ///
    /// A missing or invalid file; a model that needs inputs other than pieces, mask and types, or whose output is
    /// neither one vector per piece nor one per text.
    pub(crate) fn open(dir: &Path) -> Result<Encoder, EncoderError> {
        let path = MODELS.map(|it| dir.join(it)).into_iter().find(|it| it.exists());
        let path = path.unwrap_or_else(|| dir.join(MODELS[0]));
        let data = read_file(&path)?;
        let pieces = dir.join("tokenizer.json");
        let json = read_file(&pieces)?;
        let first = is_first_piece_pooled(&dir.join("1_Pooling/config.json"))?;
        let before = read_prefixes(&dir.join("config_sentence_transformers.json"))?;
        let digest = Sha256::new().chain_update(&data).chain_update(&json);
        let digest = digest.chain_update([u8::from(first)]);
        let digest = digest.chain_update(&before[Kind::Text as usize]).finalize();
        let name: String = digest.iter().take(8).map(|it| format!("{it:02x}")).collect();
        let model = Model::load(data).map_err(|error| EncoderError::unreadable_file(&path, &error))?;
        let (inputs, output) = model_inputs_and_output(&model).map_err(|it| EncoderError::unusable_file(&path, it))?;
        let mut opened = Opened {
            name: format!("onnx-{name}/{READING}"),
            dimension: 0,
            tokenizer: parse_tokenizer(&pieces, &json)?,
            first,
            before,
            model,
            inputs,
            output,
        };
        let ids = opened
            .word_piece_ids("a")
            .map_err(|it| EncoderError::unusable_file(&pieces, it))?;
        let tried = opened
            .run_model(&[&ids])
            .map_err(|it| EncoderError::unusable_file(&path, it))?;
        opened.dimension = tried.first().map_or(0, Vec::len);
        Ok(Encoder(Arc::new(opened)))
    }

    /// Returns one vector per text, in order. Each text is encoded with the prefix of its kind.
    ///
    /// # Errors
    ///
    /// An error of the model.
    fn encode_texts(&self, kind: Kind, texts: &[String]) -> Result<Vec<Embedding>, EncoderError> {
        let opened = &self.0;
        let before = &opened.before[kind as usize];
        let mut vectors = vec![vec![0.0; opened.dimension]; texts.len()];
        let mut by_length: BTreeMap<usize, Vec<(usize, Vec<i32>)>> = BTreeMap::new();
        for (at, text) in texts.iter().enumerate().filter(|it| has_words(it.1)) {
            let ids = opened
                .word_piece_ids(&format!("{before}{text}"))
                .map_err(EncoderError::Failed)?;
            by_length.entry(ids.len()).or_default().push((at, ids));
        }
        for (length, same) in by_length {
            for some in same.chunks((PIECES_AT_ONCE / length.max(1)).max(1)) {
                let ids: Vec<&[i32]> = some.iter().map(|it| it.1.as_slice()).collect();
                let encoded = opened.run_model(&ids).map_err(EncoderError::Failed)?;
                some.iter()
                    .zip(encoded)
                    .for_each(|((at, _), vector)| vectors[*at] = vector);
            }
        }
        Ok(vectors)
    }

    /// Does the same off the async runtime.
    async fn encode_off_runtime(&self, kind: Kind, texts: Vec<String>) -> port::Result<Vec<Embedding>> {
        let encoder = self.clone();
        let encoded = spawn_blocking(move || encoder.encode_texts(kind, &texts)).await;
        let failed = |why| PortError::new("embedder.embed", ErrorKind::Internal, why);
        encoded
            .map_err(|error| failed("encoding panicked").caused_by(error))?
            .map_err(|error| failed("the encoder failed").caused_by(error))
    }
}

#[async_trait]
impl Embedder for Encoder {
    fn model(&self) -> &str {
        &self.0.name
    }

    fn dimension(&self) -> usize {
        self.0.dimension
    }

    fn reads_sentences(&self) -> bool {
        true
    }

    async fn embed(&self, texts: &[String]) -> port::Result<Vec<Embedding>> {
        self.encode_off_runtime(Kind::Text, texts.to_vec()).await
    }

    async fn embed_question(&self, question: &str) -> port::Result<Embedding> {
        let encoded = self
            .encode_off_runtime(Kind::Question, vec![question.to_owned()])
            .await?;
        Ok(encoded.into_iter().next().unwrap_or_default())
    }
}

impl Opened {
    /// Returns the ids of the word pieces of a text.
    fn word_piece_ids(&self, text: &str) -> Result<Vec<i32>, String> {
        let text = &text[..text.floor_char_boundary(BYTES_MAX)];
        let encoding = self.tokenizer.encode(text, true).map_err(|it| it.to_string())?;
        let id = |it: &u32| i32::try_from(*it).map_err(|it| it.to_string());
        encoding.get_ids().iter().map(id).collect()
    }

    /// Encodes texts with equal numbers of pieces.
    fn run_model(&self, ids: &[&[i32]]) -> Result<Vec<Embedding>, String> {
        let shape = [ids.len(), ids.first().map_or(0, |it| it.len())];
        let pieces = NdTensor::<i32, 2>::from_fn(shape, |[text, at]| ids[text][at]);
        let (mask, types) = (NdTensor::<i32, 2>::full(shape, 1), NdTensor::<i32, 2>::full(shape, 0));
        let given = |input: Input| -> ValueOrView<'_> {
            match input {
                Input::Pieces => pieces.view().into(),
                Input::Mask => mask.view().into(),
                Input::Types => types.view().into(),
            }
        };
        let inputs = self.inputs.iter().map(|(node, input)| (*node, given(*input))).collect();
        let outputs = self
            .model
            .run(inputs, &[self.output], None)
            .map_err(|it| it.to_string())?;
        let output = outputs.into_iter().next().ok_or("the model returns nothing")?;
        let output = output.into_tensor::<f32>().ok_or("the model does not return numbers")?;
        let rows =
            |pieces: NdTensorView<'_, f32, 3>| (0..shape[0]).map(|text| self.pool_word_pieces(&pieces, text)).collect();
        match output.ndim() {
            3 => Ok(rows(output.nd_view())),
            2 => {
                let (texts, dimension) = (output.size(0), output.size(1));
                Ok(rows(output.reshaped([texts, 1, dimension]).view()))
            }
            other => Err(format!("the model returns {other} dimensions instead of 2 or 3")),
        }
    }

    /// Returns the vector of a text, scaled to length 1: the mean over its pieces, or the vector of the first one.
    fn pool_word_pieces(&self, pieces: &NdTensorView<'_, f32, 3>, text: usize) -> Embedding {
        let counted = if self.first { 1 } else { pieces.size(1) };
        let sum = |column: usize| (0..counted).map(|piece| pieces[[text, piece, column]]).sum::<f32>();
        normalise_vector((0..pieces.size(2)).map(sum).collect())
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, EncoderError> {
    std::fs::read(path).map_err(|error| EncoderError::unreadable_file(path, &error))
}

/// Returns the inputs of a model and the output to read: the sentence output if it has one, otherwise the first.
fn model_inputs_and_output(model: &Model) -> Result<(Vec<(NodeId, Input)>, NodeId), String> {
    let name = |id: &NodeId| {
        model
            .node_info(*id)
            .and_then(|it| it.name())
            .unwrap_or_default()
            .to_owned()
    };
    let input = |id: &NodeId| match name(id).as_str() {
        "input_ids" => Ok((*id, Input::Pieces)),
        "attention_mask" => Ok((*id, Input::Mask)),
        "token_type_ids" => Ok((*id, Input::Types)),
        other => Err(format!("the model needs the input `{other}`, which is not supported")),
    };
    let inputs = model.input_ids().iter().map(input).collect::<Result<_, _>>()?;
    let outputs = model.output_ids();
    let sentence = outputs.iter().find(|it| name(it) == "sentence_embedding");
    let output = sentence.or(outputs.first()).ok_or("the model returns nothing")?;
    Ok((inputs, *output))
}

fn parse_tokenizer(path: &Path, json: &[u8]) -> Result<Tokenizer, EncoderError> {
    let form = |error: tokenizers::Error| EncoderError::unusable_file(path, error.to_string());
    let mut tokenizer = Tokenizer::from_bytes(json).map_err(form)?;
    let truncation = TruncationParams {
        max_length: PIECES_MAX,
        ..TruncationParams::default()
    };
    tokenizer
        .with_padding(None)
        .with_truncation(Some(truncation))
        .map_err(form)?;
    Ok(tokenizer)
}

/// Returns true if the vector of the first piece represents a text. Without the file it is the mean.
fn is_first_piece_pooled(path: &Path) -> Result<bool, EncoderError> {
    let Some(pooling) = read_json_if_present::<Pooling>(path)? else {
        return Ok(false);
    };
    if !pooling.pooling_mode_cls_token && !pooling.pooling_mode_mean_tokens {
        let reason = "only the mean of all pieces and the first piece are supported";
        return Err(EncoderError::unusable_file(path, reason.to_owned()));
    }
    Ok(pooling.pooling_mode_cls_token)
}

/// Returns the prefixes of a text and of a question. Without the file they are empty.
fn read_prefixes(path: &Path) -> Result<[String; 2], EncoderError> {
    let Reading { mut prompts } = read_json_if_present(path)?.unwrap_or_default();
    let text = prompts.remove("document").or_else(|| prompts.remove("passage"));
    Ok([text, prompts.remove("query")].map(Option::unwrap_or_default))
}

/// Reads a file, or returns `None` if it does not exist.
fn read_json_if_present<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EncoderError> {
    if !path.exists() {
        return Ok(None);
    }
    serde_json::from_slice(&read_file(path)?)
        .map(Some)
        .map_err(|error| EncoderError::unreadable_file(path, &error))
}
