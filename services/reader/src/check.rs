//! The fitted check: whether the features of the evidence speak for a refusal.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::features::{Features, NAMES, OWNED, VERSION};

/// A logistic regression as `mnemic-train refusal` writes it.
#[derive(Deserialize)]
struct File {
    features: String,
    bias: f32,
    threshold: f32,
    weights: BTreeMap<String, f32>,
}

/// Weights in the order of the features.
struct Check {
    bias: f32,
    threshold: f32,
    weights: Features,
}

/// What the check says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opinion {
    /// Whether to refuse.
    pub(crate) refuse: bool,
    /// How much of it comes from others owning the evidence, in logits.
    pub(crate) others: f32,
    /// How much of it comes from a time or name that the evidence lacks, in logits.
    pub(crate) lacking: f32,
}

static BUILTIN: LazyLock<Option<Check>> = LazyLock::new(|| read(include_str!("../weights/refusal.json")));

/// Reads a file; none if it was made for other features.
fn read(text: &str) -> Option<Check> {
    let file: File = serde_json::from_str(text).ok()?;
    if file.features != VERSION || file.weights.keys().any(|it| !NAMES.contains(&it.as_str())) {
        return None;
    }
    Some(Check {
        bias: file.bias,
        threshold: file.threshold,
        weights: NAMES.map(|it| file.weights.get(it).copied().unwrap_or_default()),
    })
}

/// Weighs the features; refuses nothing if the weights are of another version, which a test rules out.
pub(crate) fn weigh(features: &Features) -> Opinion {
    let Some(check) = BUILTIN.as_ref() else {
        return Opinion {
            refuse: false,
            others: 0.0,
            lacking: 0.0,
        };
    };
    let products: Vec<f32> = features
        .iter()
        .zip(&check.weights)
        .map(|(it, weight)| it * weight)
        .collect();
    let lacking = NAMES
        .iter()
        .zip(&products)
        .filter(|it| matches!(*it.0, "time_off" | "name_missing"));
    Opinion {
        refuse: check.bias + products.iter().sum::<f32>() > check.threshold,
        others: products.iter().take(OWNED).sum(),
        lacking: lacking.map(|it| it.1).sum(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_weights_fit_the_features() {
        assert!(super::BUILTIN.is_some());
    }
}
