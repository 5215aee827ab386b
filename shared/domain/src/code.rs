//! Stable codes: a program compares the code, and people read the sentence.
//!
//! A code may be added; none changes its meaning or is used again. Each explains itself, and `docs/ERRORS.md` is made of these
//! explanations.

mod degraded;
mod reason;
mod tool;

pub use degraded::DegradedCode;
pub use reason::ReasonCode;
pub use tool::ToolCode;

/// What a code says to people: `docs/ERRORS.md` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What the code means.
    pub meaning: &'static str,
    /// The cause of the code.
    pub cause: &'static str,
    /// What the user can do.
    pub action: &'static str,
}

/// Makes an enum of codes from a table: variant, code in JSON, meaning, cause, and what to do. The enum has `ALL`, `name` and
/// `explanation`.
#[macro_export]
macro_rules! codes {
    ($(#[$of_enum:meta])* $visible:vis enum $codes:ident {
        $($(#[$of_code:meta])* $code:ident = $name:tt, $meaning:tt, $cause:tt, $action:tt;)+
    }) => {
        $(#[$of_enum])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $visible enum $codes {
            $(
                #[doc = $meaning]
                $(#[$of_code])*
                #[serde(rename = $name)]
                $code,
            )+
        }

        impl $codes {
            /// Every code, in the order of `docs/ERRORS.md`.
            $visible const ALL: &'static [$codes] = &[$($codes::$code),+];

            /// Returns the code as it is written in JSON.
            #[must_use]
            $visible const fn name(self) -> &'static str {
                match self {
                    $($codes::$code => $name,)+
                }
            }

            /// Returns the meaning of the code, its cause, and what to do.
            #[must_use]
            $visible const fn explanation(self) -> $crate::code::Explanation {
                match self {
                    $($codes::$code => $crate::code::Explanation {
                        meaning: $meaning,
                        cause: $cause,
                        action: $action,
                    },)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_codes_match_their_json_and_are_unique() {
        for code in ReasonCode::ALL {
            assert_eq!(json!(code), code.name());
        }
        for code in DegradedCode::ALL {
            assert_eq!(json!(code), code.name());
        }
        let of_reasons: BTreeSet<&str> = ReasonCode::ALL.iter().map(|it| it.name()).collect();
        let of_degraded: BTreeSet<&str> = DegradedCode::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(of_reasons.len(), ReasonCode::ALL.len());
        assert_eq!(of_degraded.len(), DegradedCode::ALL.len());
    }

    #[test]
    fn an_unknown_code_of_another_version_is_other() {
        let read = |text: &str| serde_json::from_value::<DegradedCode>(json!(text)).ok();
        assert_eq!(read("from_the_future"), Some(DegradedCode::Other));
        assert_eq!(read("index_unavailable"), Some(DegradedCode::IndexUnavailable));
    }
}
