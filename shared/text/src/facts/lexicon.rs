//! Word classes of the rules for facts, read from `data/en/facts/words.txt`.

use std::collections::HashSet;
use std::sync::LazyLock;

/// A set of words for lookups.
pub(super) type List = LazyLock<HashSet<&'static str>>;

const WORDS: &str = include_str!("../../data/en/facts/words.txt");

/// Returns the words of a class; empty if there is no class of that name.
pub(super) fn read_word_list(name: &str) -> HashSet<&'static str> {
    crate::lexicon::word_lists::read_word_set(WORDS, name)
}

macro_rules! lists {
    ($($name:ident $class:literal)*) => {
        $(pub(super) static $name: List = LazyLock::new(|| read_word_list($class));)*
    };
}

lists! {
    ADVERBS "adverbs"
    ANSWERS "answers"
    AFTER_JOB "after_job"
    CALLED "called"
    CHILDREN "children"
    FILLERS "fillers"
    HE "he"
    JOBS "jobs"
    KIN "kin"
    KINDS "kinds"
    KIN_ADJECTIVES "kin_adjectives"
    MANY "many"
    NATIONS "nations"
    NO_JOB "no_job"
    NO_NAMES "no_names"
    NUMBERS "numbers"
    PETS "pets"
    REPORTS "reports"
    SHE "she"
    TRAITS "traits"
    UNREAL "unreal"
    AFTER_IS "after_is"
    ATTRIBUTES "attributes"
    AUXILIARIES "auxiliaries"
    BEFORE_ORDER "before_order"
    BREAKERS "breakers"
    BRIEF "brief"
    CLAUSE_OPENERS "clause_openers"
    CONDITIONS "conditions"
    DANGLING "dangling"
    DETERMINERS "determiners"
    DONE "done"
    DUTIES "duties"
    FAMILY "family"
    FOREVER "forever"
    GOING_VERBS "going_verbs"
    GREETINGS "greetings"
    HOMES "homes"
    HOUSEHOLD "household"
    NEVER_HABITS "never_habits"
    NO_HABITS "no_habits"
    NO_ING "no_ing"
    OFTEN "often"
    LASTING_PHRASES "lasting_phrases"
    ONE_THING "one_thing"
    ORDERS "orders"
    ORDER_OPENERS "order_openers"
    OWNERS "owners"
    PARTICIPLES "participles"
    PERSONS "persons"
    PLACED "placed"
    SINGLE_ORDERS "single_orders"
    STANDING "standing"
    STATE_VERBS "state_verbs"
    STOPS "stops"
    STOP_PHRASES "stop_phrases"
    TIME_UNITS "time_units"
    TITLES "titles"
}

/// Returns true for numbers that count people and things. "One" alone is often a pronoun and does not count.
pub(super) fn is_number(word: &str) -> bool {
    let digits = !word.is_empty() && word.len() <= 4 && word.chars().all(|it| it.is_ascii_digit());
    let joined = word
        .split_once('-')
        .is_some_and(|(a, b)| NUMBERS.contains(a) && NUMBERS.contains(b));
    digits || joined || NUMBERS.contains(&word)
}
