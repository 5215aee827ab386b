//! The lists of words in `data/words.txt` and of phrases in `data/phrases.txt`.

use text::declare_lists;
use text::lexicon::word_lists::{PhraseList, WordList, read_phrases, read_word_set};

static WORDS: &str = include_str!("../data/words.txt");
static PHRASES: &str = include_str!("../data/phrases.txt");

declare_lists! {
    WORD_LISTS: WordList = read_word_set(WORDS);
    PERSONAL_WORDS = "personal_words",
    ORDER_VERBS = "order_verbs",
    NOT_PLACES = "not_places",
    TITLES = "titles",
    WORDS_BEFORE_ACTION = "words_before_action",
    WORDS_AFTER_ACTION = "words_after_action",
    ENVIRONMENT_ACTORS = "environment_actors",
    COMMON_STEMS = "common_stems",
    ATTENTION_CALLS = "attention_calls",
    MARKER_FILLERS = "marker_fillers",
    QUESTION_INTRODUCTIONS = "question_introductions",
    PLAIN_QUESTION_VERBS = "plain_question_verbs",
    ANAPHORS = "anaphors",
    DENIALS = "denials",
    POLITE_DENIALS = "polite_denials",
    LIKES = "likes",
    DISLIKES = "dislikes",
    USABLE_STATES = "usable_states",
    CHANGE_REPORTS = "change_reports",
    INSPECTING_ACTIONS = "inspecting_actions",
    TIME_LIMITS = "time_limits",
    UNCERTAIN_WORDS = "uncertain_words",
    FUTURE_WORDS = "future_words",
    PLANNING_WORDS = "planning_words",
    DAY_DETERMINERS = "day_determiners",
}

declare_lists! {
    PHRASE_LISTS: PhraseList = read_phrases(PHRASES);
    STEERING_PHRASES = "steering_phrases",
    SUBJECT_OPENINGS = "subject_openings",
    DETAIL_QUESTIONS = "detail_questions",
    DENYING_BEGINNINGS = "denying_beginnings",
    ARRIVAL_REPORTS = "arrival_reports",
    NEAR_DAYS = "near_days",
    DAY_PARTS = "day_parts",
    STEP_KEYS = "step_keys",
    PLACE_KEYS = "place_keys",
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
        assert_eq!(*STEP_KEYS, ["step", "turn", "frame", "t"]);
    }
}
