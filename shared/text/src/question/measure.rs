//! Questions for a measure: "how far", "how heavy", "how big", "how much does it weigh".

use domain::question::Measure;

use crate::lexicon::{Class, is_in_class};
use crate::{split_words, stem_word};

/// Returns the measure that a question in lower case asks for.
pub(super) fn requested_measure(lower: &str) -> Option<Measure> {
    let tokens = split_words(lower);
    let how = tokens.windows(2).find(|it| it[0] == "how").map(|it| it[1])?;
    match how {
        _ if is_in_class(how, Class::HowLong) => Some(Measure::Length),
        "heavy" => Some(Measure::Mass),
        "much" if tokens.iter().any(|it| stem_word(it) == "weigh") => Some(Measure::Mass),
        _ if is_in_class(how, Class::HowHot) => Some(Measure::Heat),
        "fast" => Some(Measure::Speed),
        _ if is_in_class(how, Class::HowBig) => Some(Measure::Size),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adjective_after_how_determines_the_measure() {
        for (question, measure) in [
            ("how far is the hut?", Some(Measure::Length)),
            ("how heavy was it?", Some(Measure::Mass)),
            ("how much does the parcel weigh?", Some(Measure::Mass)),
            ("how much did it cost?", None),
            ("how big is the hall?", Some(Measure::Size)),
            ("how did it go?", None),
            ("what is far away?", None),
        ] {
            assert_eq!(requested_measure(question), measure, "{question}");
        }
    }
}
