//! Words at the start of a turn that say how it stands to what was said before. English.

use domain::relation::RelationKind;

/// A relation that a marker states.
pub(crate) struct Marker {
    /// Its kind.
    pub(crate) kind: RelationKind,
    /// Whether it leads from what was said before to this turn, or back.
    pub(crate) from_before: bool,
    /// Whether it names what was said before ("that is why"), so that nothing else has to tie the two.
    pub(crate) points_back: bool,
}

/// Starts of sentences, the longer before the shorter; kind, from before, points back.
const MARKERS: [(&str, RelationKind, bool, bool); 52] = [
    ("because i want", RelationKind::Motivates, false, false),
    ("because i love", RelationKind::Motivates, false, false),
    ("because i like", RelationKind::Motivates, false, false),
    ("because i hope", RelationKind::Motivates, false, false),
    ("because", RelationKind::Causes, false, false),
    ("it's because", RelationKind::Causes, false, true),
    ("that's because", RelationKind::Causes, false, true),
    ("since then", RelationKind::FollowsUp, true, true),
    ("that's why", RelationKind::Causes, true, true),
    ("that is why", RelationKind::Causes, true, true),
    ("this is why", RelationKind::Causes, true, true),
    ("as a result", RelationKind::Causes, true, true),
    ("therefore", RelationKind::Causes, true, false),
    ("consequently", RelationKind::Causes, true, false),
    ("so i had to", RelationKind::Causes, true, false),
    ("so i decided", RelationKind::Motivates, true, false),
    ("so we decided", RelationKind::Motivates, true, false),
    ("so now i can", RelationKind::Enables, true, false),
    ("so i can", RelationKind::Enables, true, false),
    ("now i can", RelationKind::Enables, true, false),
    ("that let me", RelationKind::Enables, true, true),
    ("that lets me", RelationKind::Enables, true, true),
    ("that means i can", RelationKind::Enables, true, true),
    ("thanks to that", RelationKind::Enables, true, true),
    ("that made me want", RelationKind::Motivates, true, true),
    ("that inspired", RelationKind::Motivates, true, true),
    ("that motivated", RelationKind::Motivates, true, true),
    ("that encouraged", RelationKind::Motivates, true, true),
    ("this inspired", RelationKind::Motivates, true, true),
    ("you inspired", RelationKind::Motivates, true, true),
    ("it inspired", RelationKind::Motivates, true, true),
    ("that made", RelationKind::Causes, true, true),
    ("that caused", RelationKind::Causes, true, true),
    ("that led", RelationKind::Causes, true, true),
    ("but", RelationKind::Contrasts, true, false),
    ("however", RelationKind::Contrasts, true, false),
    ("on the other hand", RelationKind::Contrasts, true, false),
    ("instead", RelationKind::Contrasts, true, false),
    ("unlike", RelationKind::Contrasts, true, false),
    ("although", RelationKind::Contrasts, true, false),
    ("even so", RelationKind::Contrasts, true, false),
    ("meanwhile", RelationKind::Parallel, true, false),
    ("at the same time", RelationKind::Parallel, true, false),
    ("for example", RelationKind::Elaborates, false, false),
    ("for instance", RelationKind::Elaborates, false, false),
    ("in fact", RelationKind::Elaborates, false, false),
    ("specifically", RelationKind::Elaborates, false, false),
    ("in addition", RelationKind::Elaborates, false, false),
    ("to be exact", RelationKind::Elaborates, false, false),
    ("i mean", RelationKind::Elaborates, false, false),
    ("also", RelationKind::Elaborates, false, false),
    ("plus", RelationKind::Elaborates, false, false),
];
/// Small words that may stand before a marker.
const FILLERS: [&str; 14] = [
    "oh", "yeah", "yes", "well", "and", "ok", "okay", "right", "true", "no", "sure", "wow", "hmm", "exactly",
];

/// Returns the marker with which the text opens its first or second sentence, the first one found.
pub(crate) fn of(text: &str) -> Option<Marker> {
    let head = &text[..text.floor_char_boundary(400)];
    text::sentences(head).into_iter().take(2).find_map(in_sentence)
}

/// Ways to ask for a cause or a motive, the longer before the shorter.
const WANTED: [(&str, RelationKind); 12] = [
    ("why do you want", RelationKind::Motivates),
    ("why did you", RelationKind::Motivates),
    ("why do you", RelationKind::Motivates),
    ("why are you", RelationKind::Motivates),
    ("what made you", RelationKind::Motivates),
    ("what inspired", RelationKind::Motivates),
    ("what motivated", RelationKind::Motivates),
    ("what got you", RelationKind::Motivates),
    ("why not", RelationKind::Causes),
    ("why", RelationKind::Causes),
    ("how come", RelationKind::Causes),
    ("what caused", RelationKind::Causes),
];

/// Returns how the answer to the last question of the text bears on what is asked, if it asks for a cause or a motive.
pub(crate) fn wanted(text: &str) -> Option<RelationKind> {
    let question = text::sentences(text)
        .into_iter()
        .rev()
        .find(|it| crate::speech::is_question(it))?;
    let lower = question.to_lowercase();
    let bare = lower
        .trim_start_matches("and ")
        .trim_start_matches("so ")
        .trim_start_matches("but ");
    WANTED
        .iter()
        .find(|(start, _)| bare.starts_with(start))
        .map(|(_, kind)| *kind)
}

fn in_sentence(sentence: &str) -> Option<Marker> {
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let mut rest = lower.trim_start();
    for _ in 0..2 {
        let word = rest.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
        if FILLERS.contains(&word) {
            rest = rest[word.len()..].trim_start_matches(|it: char| !it.is_alphanumeric());
        }
    }
    let starts = |marker: &str| {
        rest.strip_prefix(marker)
            .is_some_and(|it| !it.chars().next().is_some_and(char::is_alphanumeric) && !it.trim().is_empty())
    };
    let &(_, kind, from_before, points_back) = MARKERS.iter().find(|it| starts(it.0))?;
    Some(Marker {
        kind,
        from_before,
        points_back,
    })
}
