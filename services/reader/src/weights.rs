//! The fitted weights of turns, candidate answers and times, as `mnemic-train answers` writes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{span_names, time_names};
use crate::evidence::rank;
pub use crate::feature_weights::Weights;

/// Version of the features. Weights that were fitted to another version are rejected.
pub const VERSION: &str = "answers-8";

/// A weights file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name of the weights.
    pub version: String,
    /// [`VERSION`] of the features.
    pub features: String,
    /// SHA-256 of the data to which they were fitted.
    pub data: String,
    /// A description of how they were made, for people.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub about: Value,
    /// Temperature at which candidate answers vote for each other.
    pub heat: f32,
    /// Weights of turns by feature; a missing feature has weight 0.
    pub turns: BTreeMap<String, f32>,
    /// Weights of candidate answers by feature; a missing feature has weight 0.
    pub spans: BTreeMap<String, f32>,
    /// Weights of times by feature; a missing feature has weight 0.
    pub times: BTreeMap<String, f32>,
}

/// The reasons why weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("the weights file {} cannot be read: {reason}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the operating system.
        reason: String,
    },
    /// The text is not JSON of the expected form.
    #[error("the weights cannot be read: {0}")]
    Form(String),
    /// The weights were fitted to another version of the features.
    #[error("the weights are for features {found}, this build has {expected}: train them again")]
    Version {
        /// Version in the file.
        found: String,
        /// Version of this build.
        expected: &'static str,
    },
    /// A weight names an unknown feature.
    #[error("there is no feature {0}")]
    Unknown(String),
    /// The temperature is not above 0.
    #[error("the weights have the temperature {0}, it has to be above 0")]
    Heat(String),
}

static BUILTIN: LazyLock<Result<Weights, WeightsError>> =
    LazyLock::new(|| Weights::from_json(include_str!("../weights/answer.json")));

impl Weights {
    /// Returns the built-in weights.
    ///
    /// # Errors
    /// If they do not fit the features; a test fails before such weights can be shipped.
    pub fn builtin() -> Result<&'static Weights, &'static WeightsError> {
        BUILTIN.as_ref()
    }

    /// Reads weights from a file.
    ///
    /// # Errors
    /// If the file cannot be read, and the errors of [`Weights::from_json`].
    pub fn from_path(path: &Path) -> Result<Weights, WeightsError> {
        Weights::from_json(&text_of(path)?)
    }

    /// Reads weights from JSON in the form of [`File`].
    ///
    /// # Errors
    /// If the form is wrong, and the errors of [`Weights::from_file`].
    pub fn from_json(json: &str) -> Result<Weights, WeightsError> {
        let file = serde_json::from_str(json).map_err(|it| WeightsError::Form(it.to_string()))?;
        Weights::from_file(&file)
    }

    /// Returns the weights in the order of the features.
    ///
    /// # Errors
    /// If the version, a name or the temperature is wrong.
    pub fn from_file(file: &File) -> Result<Weights, WeightsError> {
        check_version(&file.features, VERSION)?;
        if !(file.heat.is_finite() && file.heat > 0.0) {
            return Err(WeightsError::Heat(file.heat.to_string()));
        }
        Ok(Weights {
            heat: file.heat,
            turns: order_weights(&file.turns, rank::NAMES)?,
            spans: order_weights(&file.spans, span_names())?,
            times: order_weights(&file.times, time_names())?,
        })
    }
}

/// A logistic regression as `mnemic-train` writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogisticFile {
    /// Name of the weights, for people.
    #[serde(rename = "version")]
    _version: IgnoredAny,
    /// A description of how they were made, for people.
    #[serde(default, rename = "about")]
    _about: IgnoredAny,
    features: String,
    bias: f32,
    threshold: Option<f32>,
    weights: BTreeMap<String, f32>,
}

/// A logistic regression over named features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Logistic {
    pub(crate) bias: f32,
    /// Logit above which the regression decides, if it has one.
    pub(crate) threshold: Option<f32>,
    /// In the order of the features.
    pub(crate) weights: Vec<f32>,
}

impl Logistic {
    /// Reads a regression over the features `names` of a version from JSON.
    ///
    /// # Errors
    /// If the form, the version or a name is wrong.
    pub(crate) fn from_json(json: &str, version: &'static str, names: &[&str]) -> Result<Logistic, WeightsError> {
        let file: LogisticFile = serde_json::from_str(json).map_err(|it| WeightsError::Form(it.to_string()))?;
        check_version(&file.features, version)?;
        Ok(Logistic {
            bias: file.bias,
            threshold: file.threshold,
            weights: order_weights(&file.weights, names)?,
        })
    }
}

/// Returns the content of a weights file.
pub(crate) fn text_of(path: &Path) -> Result<String, WeightsError> {
    std::fs::read_to_string(path).map_err(|it| WeightsError::File {
        path: path.to_owned(),
        reason: it.to_string(),
    })
}

/// Returns an error if weights are for another version of the features.
fn check_version(found: &str, expected: &'static str) -> Result<(), WeightsError> {
    let found = found.to_owned();
    (found == expected)
        .then_some(())
        .ok_or(WeightsError::Version { found, expected })
}

/// Returns the weights in the order of `names`; a missing feature has weight 0.
fn order_weights(weights: &BTreeMap<String, f32>, names: &[&str]) -> Result<Vec<f32>, WeightsError> {
    if let Some(unknown) = weights.keys().find(|it| !names.contains(&it.as_str())) {
        return Err(WeightsError::Unknown(unknown.clone()));
    }
    let weight = |it: &&str| weights.get(*it).copied().unwrap_or_default();
    Ok(names.iter().map(weight).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_other_features_versions_or_temperatures_are_rejected() {
        let shipped = include_str!("../weights/answer.json");
        assert!(Weights::builtin().is_ok(), "{:?}", Weights::builtin().err());
        let changed = |from: &str, to: &str| Weights::from_json(&shipped.replacen(from, to, 1)).err();
        let version = WeightsError::Version {
            found: "answers-0".to_owned(),
            expected: VERSION,
        };
        assert_eq!(changed(VERSION, "answers-0"), Some(version));
        let unknown = WeightsError::Unknown("arund".to_owned());
        assert_eq!(changed("\"around\":", "\"arund\":"), Some(unknown));
        let cold = WeightsError::Heat("0".to_owned());
        assert_eq!(changed("\"heat\": 1.0", "\"heat\": 0.0"), Some(cold));
    }
}
