//! The lists of words in `data/words.txt`.

use text::declare_lists;
use text::lexicon::word_lists::{WordList, read_word_set};

static WORDS: &str = include_str!("../data/words.txt");

declare_lists! {
    WORD_LISTS: WordList = read_word_set(WORDS);
    SMALL_TALK = "small_talk",
    SPEAKER_WORDS = "speaker_words",
    PLACE_PREPOSITIONS = "place_prepositions",
    PRIVATE_WORDS = "private_words",
    SPEECH_WORDS = "speech_words",
    ORDER_WORDS = "order_words",
    PICTURE_WORDS = "picture_words",
    ASKER_WORDS = "asker_words",
    FUTURE_WORDS = "future_words",
    AUXILIARIES = "auxiliaries",
    MAIN_VERB_AUXILIARIES = "main_verb_auxiliaries",
    GATHERING_WORDS = "gathering_words",
    QUESTION_FORM_STEMS = "question_form_stems",
}

#[cfg(test)]
mod tests {
    use text::lexicon::word_lists::find_word_list_errors;

    use super::*;

    #[test]
    fn every_list_of_words_is_used_and_has_no_repeated_word() {
        assert_eq!(find_word_list_errors(WORDS, WORD_LISTS), [""; 0]);
    }
}
