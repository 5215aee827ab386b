//! The lists of words in `data/words.txt` and of phrases in `data/phrases.txt`.

use text::declare_lists;
use text::lexicon::word_lists::{PhraseList, WordList, read_phrases, read_word_set};

static WORDS: &str = include_str!("../data/words.txt");
static PHRASES: &str = include_str!("../data/phrases.txt");

declare_lists! {
    WORD_LISTS: WordList = read_word_set(WORDS);
    CURRENCIES = "currencies",
    CURRENCY_CODES = "currency_codes",
    UNITS = "units",
    COLOURS = "colours",
    DENIALS = "denials",
    DETERMINERS = "determiners",
    AUXILIARIES = "auxiliaries",
    LINKING = "linking",
    FILLERS = "fillers",
    PERSONS = "persons",
    CHANGED = "changed",
    CHANGES = "changes",
    OPENINGS = "openings",
    UNREALISED = "unrealised",
    QUESTION_WORDS = "question_words",
    REQUEST_VERBS = "request_verbs",
    ARTICLES = "articles",
    OWNERS = "owners",
    NAME_PREPOSITIONS = "name_prepositions",
    SAYING_VERBS = "saying_verbs",
    CARRYING_AUXILIARIES = "carrying_auxiliaries",
    TIME_MARKERS = "time_markers",
    WORDS_BEFORE_ASKED_TIME = "words_before_asked_time",
    AMOUNT_WORDS = "amount_words",
    DATE_WORDS = "date_words",
    SUM_STEMS = "sum_stems",
    LENGTH_UNITS = "length_units",
    MASS_UNITS = "mass_units",
    TEMPERATURE_UNITS = "temperature_units",
    SPEED_UNITS = "speed_units",
    SIZE_UNITS = "size_units",
    SPOKEN_OPENINGS = "spoken_openings",
    TURNING_STEMS = "turning_stems",
    WEIGHT_UNITS = "weight_units",
}

declare_lists! {
    PHRASE_LISTS: PhraseList = read_phrases(PHRASES);
    CHANGE_PHRASES = "change_phrases",
}

#[cfg(test)]
mod tests {
    use text::lexicon::word_lists::{find_phrase_list_errors, find_word_list_errors};

    use super::*;

    #[test]
    fn every_list_of_words_is_used_and_has_no_repeated_word() {
        assert_eq!(find_word_list_errors(WORDS, WORD_LISTS), [""; 0]);
    }

    #[test]
    fn every_list_of_phrases_is_used_and_has_no_repeated_phrase() {
        assert_eq!(find_phrase_list_errors(PHRASES, PHRASE_LISTS), [""; 0]);
    }
}
