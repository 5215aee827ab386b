//! Names that are words of every day, and words for people.

/// First names that are common words: in lower case the word is meant.
const COMMON: &str = "will may mark rose hope grace faith joy bill art jack frank grant chase dawn summer autumn april june \
    august daisy lily ivy iris violet olive amber ruby pearl jade crystal sky rain river brook forest cliff rock heath dale \
    glen ray sandy rusty buddy guy gene miles drew pat sue rob nick skip chuck chip herb ginger basil pepper melody harmony \
    carol bliss charity patience honey angel star sunny stormy lance hunter archer mason carter cooper tanner parker page \
    penny victor earnest dean duke earl king prince major kit bob jean dot lane reed wade van robin jay wren holly hazel \
    heather clay cash rich dolly candy cherry bunny rusty stone wood woods young long short black white brown green gray";
/// Words before a name that make it a person's, beside those for kin.
const BEFORE: &str = "dr mr mrs ms prof friends";
/// Words after a name that make it a person's.
const AFTER: &str = "said says told tells asked asks thinks thought called texted loves loved wants wanted feels felt hates \
    likes liked enjoys laughed smiled invited suggested recommended promised";

/// Says whether a word in lower case is hardly ever a name.
pub(super) fn is_common(word: &str) -> bool {
    text::is_stop(word) || COMMON.split(' ').any(|it| it == word)
}

/// Says whether a word before a name makes it a person's.
pub(super) fn opens_person(word: &str) -> bool {
    BEFORE.split(' ').any(|it| it == word) || text::kin::of(word).is_some_and(|it| it.person)
}

/// Says whether a word behind a name makes it a person's.
pub(super) fn closes_person(word: &str) -> bool {
    AFTER.split(' ').any(|it| it == word)
}
