use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A string that is never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true))]
pub struct Secret(String);

impl Secret {
    /// Returns the string, for the code that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns true if the string is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::from("open sesame");
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "*** Some(\n    ***,\n)");
        assert_eq!(secret.reveal(), "open sesame");
    }
}
