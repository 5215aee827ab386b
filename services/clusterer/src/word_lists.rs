//! The lists of words in `data/words.txt` and of phrases in `data/phrases.txt`.

use text::declare_lists;
use text::lexicon::word_lists::{PhraseList, WordList, read_phrases, read_word_set};

static WORDS: &str = include_str!("../data/words.txt");
static PHRASES: &str = include_str!("../data/phrases.txt");

declare_lists! {
    WORD_LISTS: WordList = read_word_set(WORDS);
    NAME_ARTICLES = "name_articles",
    NAME_TITLES = "name_titles",
    KIN_TITLES = "kin_titles",
    NAME_PARTICLES = "name_particles",
    COMMON_NAMES = "common_names",
    WORDS_BEFORE_PERSON = "words_before_person",
    WORDS_AFTER_PERSON = "words_after_person",
    PARTNER_ROLES = "partner_roles",
    WORK_ROLES = "work_roles",
    COMBINABLE_ROLES = "combinable_roles",
    SELF_WORDS = "self_words",
    NAME_QUESTION_WORDS = "name_question_words",
    ANSWERS_WITHOUT_NAME = "answers_without_name",
    HAVING_VERBS = "having_verbs",
    HAVING_SUBJECTS = "having_subjects",
    NAME_POSSESSIVES = "name_possessives",
    CALLED_PRONOUNS = "called_pronouns",
    CALLED_CONTRACTIONS = "called_contractions",
    EVENT_NEGATIONS = "event_negations",
    SIDE_JOB_STEMS = "side_job_stems",
    PARTNERSHIP_STEMS = "partnership_stems",
    ENDED_MARRIAGE_STEMS = "ended_marriage_stems",
    ENDED_JOB_STEMS = "ended_job_stems",
    DIET_STEMS = "diet_stems",
    CONSUMPTION_STEMS = "consumption_stems",
    OCCASION_OPENINGS = "occasion_openings",
    WORDS_AFTER_MAIN_NOUN = "words_after_main_noun",
    FREQUENCY_STEMS = "frequency_stems",
    PREFERENCE_REVERSALS = "preference_reversals",
}

declare_lists! {
    PHRASE_LISTS: PhraseList = read_phrases(PHRASES);
    PLACE_KINDS = "place_kinds",
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
