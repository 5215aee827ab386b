//! Words and phrases of the rules for facts, read from `data/en/facts`: `words.txt` has the lists that rule files may
//! name, `clause_words.txt` and `set_phrases.txt` have those of the code.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::declare_lists;
use crate::lexicon::word_lists::{PhraseList, WordList, read_phrases, read_word_set};

/// Phrases in the order of the file, each as its words.
type WordSequences = LazyLock<Vec<Vec<&'static str>>>;

const WORDS: &str = include_str!("../../data/en/facts/words.txt");
const CLAUSE_WORDS: &str = include_str!("../../data/en/facts/clause_words.txt");
const SET_PHRASES: &str = include_str!("../../data/en/facts/set_phrases.txt");

/// Returns the words of a list that rule files may name; empty if there is no list of that name.
pub(super) fn read_word_list(name: &str) -> HashSet<&'static str> {
    read_word_set(WORDS, name)
}

fn read_phrase_set(file: &'static str, name: &str) -> HashSet<&'static str> {
    read_phrases(file, name).into_iter().collect()
}

fn read_word_sequences(file: &'static str, name: &str) -> Vec<Vec<&'static str>> {
    let phrases = read_phrases(file, name).into_iter();
    phrases.map(|it| it.split(' ').collect()).collect()
}

declare_lists! {
    WORD_LISTS: WordList = read_word_set(WORDS);
    ADVERBS = "adverbs",
    ANSWERS = "answers",
    AFTER_JOB = "after_job",
    CALLED = "called",
    CHILDREN = "children",
    FILLERS = "fillers",
    HE = "he",
    JOBS = "jobs",
    KIN = "kin",
    KINDS = "kinds",
    KIN_ADJECTIVES = "kin_adjectives",
    MANY = "many",
    NATIONS = "nations",
    NO_JOB = "no_job",
    NO_NAMES = "no_names",
    NUMBERS = "numbers",
    PETS = "pets",
    REPORTS = "reports",
    SHE = "she",
    TRAITS = "traits",
    UNREAL = "unreal",
    AFTER_IS = "after_is",
    ATTRIBUTES = "attributes",
    AUXILIARIES = "auxiliaries",
    BEFORE_ORDER = "before_order",
    BREAKERS = "breakers",
    BRIEF = "brief",
    CLAUSE_OPENERS = "clause_openers",
    CONDITIONS = "conditions",
    DANGLING = "dangling",
    DETERMINERS = "determiners",
    DONE = "done",
    DUTIES = "duties",
    FAMILY = "family",
    FOREVER = "forever",
    GOING_VERBS = "going_verbs",
    GREETINGS = "greetings",
    HOMES = "homes",
    HOUSEHOLD = "household",
    NEVER_HABITS = "never_habits",
    NO_HABITS = "no_habits",
    NO_ING = "no_ing",
    OFTEN = "often",
    LASTING_PHRASES = "lasting_phrases",
    ONE_THING = "one_thing",
    ORDERS = "orders",
    ORDER_OPENERS = "order_openers",
    OWNERS = "owners",
    PARTICIPLES = "participles",
    PERSONS = "persons",
    PLACED = "placed",
    SINGLE_ORDERS = "single_orders",
    STANDING = "standing",
    STATE_VERBS = "state_verbs",
    STOPS = "stops",
    STOP_PHRASES = "stop_phrases",
    TIME_UNITS = "time_units",
    TITLES = "titles",
}

declare_lists! {
    CLAUSE_WORD_LISTS: WordList = read_word_set(CLAUSE_WORDS);
    AFTER_AGE = "after_age",
    AFTER_COMMENT_VERB = "after_comment_verb",
    AFTER_REMARK = "after_remark",
    AFTER_SAY = "after_say",
    AMBIGUOUS_PASTS = "ambiguous_pasts",
    ASKING_DENIALS = "asking_denials",
    BEFORE_CALLED = "before_called",
    BEFORE_GIVEN_NAME = "before_given_name",
    BEFORE_IS = "before_is",
    BEFORE_OTHER_HOME = "before_other_home",
    BEFORE_PREDICATE = "before_predicate",
    BEFORE_REMEMBER = "before_remember",
    BEFORE_SINGLE_ORDER = "before_single_order",
    BEFORE_TALE = "before_tale",
    BEFORE_TEXT_ORDER = "before_text_order",
    BEFORE_TIME = "before_time",
    BEFORE_VALUE = "before_value",
    BEFORE_YOU_KNOW = "before_you_know",
    BIRTH_RANKS = "birth_ranks",
    CHILD_VERBS = "child_verbs",
    CLAUSE_JOINERS = "clause_joiners",
    COUPLE_VERBS = "couple_verbs",
    DOUBTS = "doubts",
    FAVOURITE_PARTS = "favourite_parts",
    FINAL_VERBS = "final_verbs",
    FRAGMENT_VERBS = "fragment_verbs",
    GERMAN_SUBORDINATORS = "german_subordinators",
    GOING_TO_PLACES = "going_to_places",
    HABIT_PRONOUNS = "habit_pronouns",
    INTRODUCTIONS = "introductions",
    KIND_ADJECTIVES = "kind_adjectives",
    LASTING_ACTIONS = "lasting_actions",
    LASTING_AMOUNTS = "lasting_amounts",
    LASTING_OPENERS = "lasting_openers",
    LASTING_SIGNS = "lasting_signs",
    LASTING_STATE_VERBS = "lasting_state_verbs",
    LASTING_UNITS = "lasting_units",
    LATER_STARTS = "later_starts",
    MODALS = "modals",
    MORE_FOOD = "more_food",
    NAME_PROPERTIES = "name_properties",
    NEAREST_KIN = "nearest_kin",
    NO_FOOD = "no_food",
    NO_HABIT_OBJECTS = "no_habit_objects",
    NO_WORDS = "no_words",
    NOUN_OPENERS = "noun_openers",
    OBJECT_PRONOUNS = "object_pronouns",
    ORDER_JOINERS = "order_joiners",
    PERIODIC = "periodic",
    PLURAL_SUBJECTS = "plural_subjects",
    POLAR_ADVERBS = "polar_adverbs",
    POLITE = "polite",
    POSSESSIVES_OF_OTHERS = "possessives_of_others",
    PROPERTY_VERBS = "property_verbs",
    QUESTION_OPENERS = "question_openers",
    RATE_WORDS = "rate_words",
    REPEATED_PARTS = "repeated_parts",
    REPLY_OPENERS = "reply_openers",
    SHARED_SUBJECT_VERBS = "shared_subject_verbs",
    SUBJECT_ENDERS = "subject_enders",
    SUBJECT_OPENERS = "subject_openers",
    SUBJECT_PRONOUNS = "subject_pronouns",
    SUBORDINATORS = "subordinators",
    TALES = "tales",
    TELLING_VERBS = "telling_verbs",
    TEXT_CHECKS = "text_checks",
    TEXT_ORDERS = "text_orders",
    TEXT_PARTS = "text_parts",
    TIMES_OF_THINGS = "times_of_things",
    TRAIT_CLOSERS = "trait_closers",
    VAGUE_FAVOURITES = "vague_favourites",
    VAGUE_QUESTIONS = "vague_questions",
    VALUE_LEADS = "value_leads",
    VALUE_PREPOSITIONS = "value_prepositions",
    VALUE_PRONOUNS = "value_pronouns",
    WEAK_BREAKERS = "weak_breakers",
    WITHOUT_I = "without_i",
    WITHOUT_I_AM = "without_i_am",
    YES_WORDS = "yes_words",
    YOU_WORDS = "you_words",
}

declare_lists! {
    PHRASE_SETS: WordList = read_phrase_set(SET_PHRASES);
    IRONIC_SENTENCES = "ironic_sentences",
    PRESENT_TIMES = "present_times",
    RETRACTIONS = "retractions",
}

declare_lists! {
    PHRASE_LISTS: PhraseList = read_phrases(SET_PHRASES);
    CHANGE_REPORTS = "change_reports",
    CORRECTION_LEADS = "correction_leads",
    CORRECTION_OPENERS = "correction_openers",
    DENIALS = "denials",
    FORBIDDING_OPENINGS = "forbidding_openings",
    JOKES = "jokes",
    MEANT_LEADS = "meant_leads",
    SOON = "soon",
}

declare_lists! {
    SEQUENCES: WordSequences = read_word_sequences(SET_PHRASES);
    IRONIC_OPENINGS = "ironic_openings",
    IRONIC_PHRASES = "ironic_phrases",
    LEAD_PHRASES = "lead_phrases",
    TALE_PHRASES = "tale_phrases",
    TRAIT_PHRASES = "trait_phrases",
}

/// Returns true for numbers that count people and things. "One" alone is often a pronoun and does not count.
pub(super) fn is_number(word: &str) -> bool {
    let digits = !word.is_empty() && word.len() <= 4 && word.chars().all(|it| it.is_ascii_digit());
    let joined = word
        .split_once('-')
        .is_some_and(|(a, b)| NUMBERS.contains(a) && NUMBERS.contains(b));
    digits || joined || NUMBERS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::word_lists::{find_phrase_list_errors, find_word_list_errors, list_names};

    /// Returns the text of all rule files.
    fn read_rule_texts() -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/en/facts");
        let paths = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let rules = paths.filter(|it| it.extension().is_some_and(|it| it == "rule"));
        rules.map(|it| std::fs::read_to_string(it).unwrap()).collect()
    }

    #[test]
    fn every_list_of_words_is_used_and_has_no_repeated_word() {
        let rules = read_rule_texts();
        assert!(rules.contains("<jobs>") && !rules.contains("<no such list>"));
        // `rules` checks predicates by these two lists.
        let is_of_predicates = |it: &str| ["predicates", "single_predicates"].contains(&it);
        let is_used = |it: &&str| WORD_LISTS.contains(it) || is_of_predicates(it) || rules.contains(&format!("<{it}>"));
        let names = list_names(WORDS);
        let unused: Vec<&str> = names.iter().copied().filter(|it| !is_used(it)).collect();
        assert_eq!(unused, [""; 0]);
        for name in WORD_LISTS {
            assert!(names.contains(name), "{name}");
        }
        assert_eq!(sorted(list_names(CLAUSE_WORDS)), sorted(CLAUSE_WORD_LISTS.to_vec()));
        for file in [WORDS, CLAUSE_WORDS] {
            assert_eq!(find_word_list_errors(file, &list_names(file)), [""; 0]);
        }
    }

    #[test]
    fn every_list_of_phrases_is_used_and_has_no_repeated_phrase() {
        let names = list_names(SET_PHRASES);
        let used = [PHRASE_SETS, PHRASE_LISTS, SEQUENCES].concat();
        assert_eq!(find_phrase_list_errors(SET_PHRASES, &names), [""; 0]);
        assert_eq!(sorted(names), sorted(used));
        assert_eq!(JOKES[0], "just kidding");
        assert_eq!(LEAD_PHRASES[0], ["to", "be", "honest"]);
    }

    #[test]
    fn denials_are_openers_of_corrections() {
        assert!(DENIALS.iter().all(|it| CORRECTION_OPENERS.contains(it)));
    }

    fn sorted(mut names: Vec<&str>) -> Vec<&str> {
        names.sort_unstable();
        names
    }
}
