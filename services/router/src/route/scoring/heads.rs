//! Learning to rank: three linear heads over named features, and a first head whose score is itself the input of some
//! features. They take the place of rank fusion (RRF).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::route::scoring::edges;
use crate::route::scoring::feature_slots::{self, Values};

static BUILTIN: &str = include_str!("../../../weights/corpus-6.json");
static WEIGHTS: LazyLock<Result<Weights, WeightsError>> = LazyLock::new(|| Weights::from_json(BUILTIN));
/// The built-in weights for a memory with a sentence encoder.
static ENCODED: LazyLock<Result<Weights, WeightsError>> =
    LazyLock::new(|| Weights::from_json(include_str!("../../../weights/corpus-6-encoder.json")));

/// The weights of all heads.
#[derive(Clone, Debug)]
pub struct Weights {
    /// The name of the weights.
    pub version: String,
    /// Support scores are divided by this before they become probabilities.
    pub temperature: f32,
    /// Scores how well a unit matches, before its surroundings are considered.
    pub first: Head,
    /// Scores whether a unit holds evidence.
    pub support: Head,
    /// Scores whether a unit is an anchor, a turn from which the question starts (S3Mem, section 3.3).
    pub anchor: Head,
    /// Weights of the pair features, which score whether two units belong together.
    pub edge: Vec<f32>,
}

/// A linear head.
#[derive(Clone, Debug)]
pub struct Head {
    /// All weights, by slot.
    weights: Vec<f32>,
    /// The weights that are not 0, by ascending slot. The first head reads one slot in ten.
    used: Vec<Weight>,
}

/// The weight of a feature.
#[derive(Clone, Copy, Debug)]
struct Weight {
    slot: usize,
    weight: f32,
}

/// Reasons why weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("the weights file {} cannot be read: {reason}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The reason that the system gave.
        reason: String,
    },
    /// The text is not JSON of the expected form.
    #[error("the weights cannot be read: {0}")]
    Form(String),
    /// The weights were trained for another version of the features.
    #[error("the weights are for features {found}, this build has {expected}: train them again", expected = feature_slots::VERSION)]
    Version {
        /// The version in the weights.
        found: u32,
    },
    /// The weights name a feature that does not exist.
    #[error("there is no feature {0}")]
    Unknown(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: String,
    features: u32,
    temperature: f32,
    /// How the weights were made. This is for people; the program ignores it.
    #[serde(default)]
    #[serde(rename = "about")]
    _about: serde::de::IgnoredAny,
    first: BTreeMap<String, f32>,
    support: BTreeMap<String, f32>,
    anchor: BTreeMap<String, f32>,
    edge: BTreeMap<String, f32>,
}

impl Weights {
    /// Returns the built-in weights.
    ///
    /// # Errors
    /// Fails if the weights do not fit the features. A test keeps such weights out of a release.
    pub fn builtin() -> Result<&'static Weights, &'static WeightsError> {
        WEIGHTS.as_ref()
    }

    /// Returns the built-in weights for a memory that embeds with a sentence encoder.
    ///
    /// # Errors
    /// As [`Weights::builtin`].
    pub fn builtin_for_encoder() -> Result<&'static Weights, &'static WeightsError> {
        ENCODED.as_ref()
    }

    /// Reads weights from a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, and for the reasons of [`Weights::from_json`].
    pub fn from_file(path: &Path) -> Result<Weights, WeightsError> {
        let text = std::fs::read_to_string(path).map_err(|it| WeightsError::File {
            path: path.to_owned(),
            reason: it.to_string(),
        })?;
        Weights::from_json(&text)
    }

    /// Reads weights from JSON: `version`, `features` (their version), `temperature`, and a map from feature to weight
    /// for each of `first`, `support`, `anchor` and `edge`.
    ///
    /// # Errors
    /// Fails if the form, the version or the name of a feature is wrong.
    pub fn from_json(json: &str) -> Result<Weights, WeightsError> {
        let file: File = serde_json::from_str(json).map_err(|it| WeightsError::Form(it.to_string()))?;
        if file.features != feature_slots::VERSION {
            return Err(WeightsError::Version { found: file.features });
        }
        Ok(Weights {
            version: file.version,
            temperature: file.temperature.max(1e-3),
            first: Head::from_weights(weights_by_slot(&file.first, feature_slots::NAMES)?),
            support: Head::from_weights(weights_by_slot(&file.support, feature_slots::NAMES)?),
            anchor: Head::from_weights(weights_by_slot(&file.anchor, feature_slots::NAMES)?),
            edge: weights_by_slot(&file.edge, edges::NAMES)?,
        })
    }
}

impl Head {
    fn from_weights(weights: Vec<f32>) -> Head {
        let all = weights.iter().enumerate();
        let used = all
            .filter(|it| *it.1 != 0.0)
            .map(|(slot, weight)| Weight { slot, weight: *weight });
        Head {
            used: used.collect(),
            weights,
        }
    }

    /// Returns true if the head reads a feature.
    pub(crate) fn reads_slot(&self, slot: usize) -> bool {
        self.weights[slot] != 0.0
    }

    /// Returns the sum of weights times values.
    pub fn score(&self, values: &Values) -> f32 {
        self.used.iter().map(|it| it.weight * values[it.slot]).sum()
    }

    /// Returns the contribution of each feature to the score, compared with the score of `means`.
    pub fn feature_contributions(&self, values: &Values, means: &Values) -> Vec<f32> {
        let against = values.iter().zip(means).map(|(value, mean)| value - mean);
        self.weights
            .iter()
            .zip(against)
            .map(|(weight, value)| weight * value)
            .collect()
    }
}

fn weights_by_slot(weights_by_name: &BTreeMap<String, f32>, names: &[&str]) -> Result<Vec<f32>, WeightsError> {
    let mut out = vec![0.0; names.len()];
    for (name, weight) in weights_by_name {
        let slot = names
            .iter()
            .position(|it| it == name)
            .ok_or_else(|| WeightsError::Unknown(name.clone()))?;
        out[slot] = *weight;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_weights_fit_the_features_and_others_are_refused() {
        for builtin in [Weights::builtin(), Weights::builtin_for_encoder()] {
            assert!(builtin.is_ok(), "{:?}", builtin.err());
        }
        let own = format!("\"features\": {}", feature_slots::VERSION);
        let other = BUILTIN.replacen(&own, "\"features\": 0", 1);
        assert_eq!(
            Weights::from_json(&other).err(),
            Some(WeightsError::Version { found: 0 })
        );
        let unknown = BUILTIN.replacen("\"late\":", "\"lte\":", 1);
        assert_eq!(
            Weights::from_json(&unknown).err(),
            Some(WeightsError::Unknown("lte".to_owned()))
        );
    }
}
