//! The components that must be up before a process is ready (readiness probe).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Components that must be up before `/readyz` reports ready.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<BTreeMap<String, Standing>>>);

#[derive(Clone, Debug, Default)]
struct Standing {
    up: bool,
    /// Why it is not up, if known.
    why: String,
}

/// One thing that must be up. It counts as not up at first, and again when this is dropped.
#[derive(Debug)]
pub struct Expected {
    name: String,
    all: Readiness,
}

impl Readiness {
    /// Registers one thing that must be up.
    pub fn register_component(&self, name: impl Into<String>) -> Expected {
        let expected = Expected {
            name: name.into(),
            all: self.clone(),
        };
        expected.set_is_up(false);
        expected
    }

    /// Returns the things that are not up, by name, with the reason if known; "nothing started" if nothing is
    /// registered yet.
    pub fn missing_components(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            return vec!["nothing started".to_owned()];
        }
        all.iter()
            .filter(|(_, it)| !it.up)
            .map(|(name, it)| match it.why.as_str() {
                "" => name.clone(),
                why => format!("{name}: {why}"),
            })
            .collect()
    }
}

impl Expected {
    /// Sets whether it is up.
    pub fn set_is_up(&self, up: bool) {
        self.store_standing(Standing { up, why: String::new() });
    }

    /// Reports that it is not up, and why; for operators.
    #[cfg(feature = "distributed")]
    pub(crate) fn report_down(&self, why: String) {
        self.store_standing(Standing { up: false, why });
    }

    fn store_standing(&self, standing: Standing) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(self.name.clone(), standing);
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.set_is_up(false);
    }
}
