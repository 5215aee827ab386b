//! Words that are both names and common words, and words that indicate a person.

/// First names that are also common words; in lower case, they count as the common word.
const COMMON: &str = "will may mark rose hope grace faith joy bill art jack frank grant chase dawn summer autumn april june \
    august daisy lily ivy iris violet olive amber ruby pearl jade crystal sky rain river brook forest cliff rock heath dale \
    glen ray sandy rusty buddy guy gene miles drew pat sue rob nick skip chuck chip herb ginger basil pepper melody harmony \
    carol bliss charity patience honey angel star sunny stormy lance hunter archer mason carter cooper tanner parker page \
    penny victor earnest dean duke earl king prince major kit bob jean dot lane reed wade van robin jay wren holly hazel \
    heather clay cash rich dolly candy cherry bunny rusty stone wood woods young long short black white brown green gray";
/// Words before a name that indicate a person, in addition to words for kin.
const BEFORE: &str = "dr mr mrs ms prof friends";
/// Words after a name that indicate a person.
const AFTER: &str = "said says told tells asked asks thinks thought called texted loves loved wants wanted feels felt hates \
    likes liked enjoys laughed smiled invited suggested recommended promised";

/// Returns true if a lower-case word is hardly ever a name.
pub(crate) fn is_common(word: &str) -> bool {
    text::is_stop(word) || COMMON.split(' ').any(|it| it == word)
}

/// Returns true if a word before a name indicates a person.
pub(crate) fn opens_person(word: &str) -> bool {
    BEFORE.split(' ').any(|it| it == word) || text::lexicon::kin::find_relation(word).is_some_and(|it| it.person)
}

/// Returns true if a word after a name indicates a person.
pub(crate) fn closes_person(word: &str) -> bool {
    AFTER.split(' ').any(|it| it == word)
}
