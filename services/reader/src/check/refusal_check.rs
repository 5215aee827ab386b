//! The fitted check: whether the features of the evidence speak for a refusal.

use std::path::Path;
use std::sync::LazyLock;

use crate::check::evidence_features::{Features, NAMES, OWNED, VERSION};
use crate::weights::{Logistic, WeightsError, text_of};

/// Weights of the features that speak for a refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    bias: f32,
    threshold: f32,
    /// In the order of the features.
    weights: Vec<f32>,
}

/// Result of the check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opinion {
    /// Whether to refuse.
    pub(crate) refuse: bool,
    /// Weighted sum above the threshold, in logits; at most 0 if the check does not refuse.
    pub(crate) excess: f32,
    /// Part of the sum that comes from other owners of the evidence, in logits.
    pub(crate) others: f32,
    /// Part of the sum that comes from a time or name that the evidence lacks, in logits.
    pub(crate) lacking: f32,
}

static BUILTIN: LazyLock<Result<Check, WeightsError>> =
    LazyLock::new(|| Check::from_json(include_str!("../../weights/refusal.json")));

impl Check {
    /// Returns the built-in check.
    ///
    /// # Errors
    /// If it does not fit the features; a test fails before such weights can be shipped.
    pub fn builtin() -> Result<&'static Check, &'static WeightsError> {
        BUILTIN.as_ref()
    }

    /// Reads a check from a file.
    ///
    /// # Errors
    /// If the file cannot be read, and the errors of [`Check::from_json`].
    pub fn from_path(path: &Path) -> Result<Check, WeightsError> {
        Check::from_json(&text_of(path)?)
    }

    /// Reads a check from JSON: `version`, `features` (their version), `bias`, `threshold`, and `weights` by feature.
    ///
    /// # Errors
    /// If the form, the version or a name is wrong.
    pub fn from_json(json: &str) -> Result<Check, WeightsError> {
        let Logistic {
            bias,
            threshold,
            weights,
        } = Logistic::from_json(json, VERSION, &NAMES)?;
        Ok(Check {
            bias,
            threshold: threshold.ok_or_else(|| WeightsError::Form("missing field `threshold`".to_owned()))?,
            weights,
        })
    }

    /// Returns the opinion of the check about the features.
    pub(crate) fn weigh_features(&self, features: &Features) -> Opinion {
        let products: Vec<f32> = features
            .iter()
            .zip(&self.weights)
            .map(|(it, weight)| it * weight)
            .collect();
        let lacking = NAMES
            .iter()
            .zip(&products)
            .filter(|it| matches!(*it.0, "time_off" | "name_missing"));
        let excess = self.bias + products.iter().sum::<f32>() - self.threshold;
        Opinion {
            refuse: excess > 0.0,
            excess,
            others: products.iter().take(OWNED).sum(),
            lacking: lacking.map(|it| it.1).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_weights_for_other_features_or_versions_are_rejected() {
        let shipped = include_str!("../../weights/refusal.json");
        assert!(Check::builtin().is_ok(), "{:?}", Check::builtin().err());
        let changed = |from: &str, to: &str| Check::from_json(&shipped.replacen(from, to, 1)).err();
        let version = WeightsError::Version {
            found: "reader-0".to_owned(),
            expected: VERSION,
        };
        assert_eq!(changed(VERSION, "reader-0"), Some(version));
        let unknown = WeightsError::Unknown("yes_know".to_owned());
        assert_eq!(changed("\"yes_no\":", "\"yes_know\":"), Some(unknown));
        assert!(matches!(changed("\"bias\"", "\"bios\""), Some(WeightsError::Form(_))));
    }
}
