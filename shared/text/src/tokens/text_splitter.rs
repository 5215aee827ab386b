//! Chunking of records: splits long texts along their structure.

use crate::split_sentences;

/// The places where a text can be cut, the coarsest first. If no place of one kind is left inside a piece, the next
/// kind is tried.
#[derive(Clone, Copy)]
enum Cut {
    Headings,
    Paragraphs,
    Lines,
    Sentences,
    Words,
    Characters,
}

/// Splits a text into pieces of at most `bytes_max` bytes (at least 4) that make up the text, in order. Cuts are at
/// headings if that is enough, otherwise at blank lines, lines, sentences or words; a word is cut only between
/// characters. Neighbouring pieces are joined as far as the limit allows. A text that fits is one piece.
pub fn split_text(text: &str, bytes_max: usize) -> Vec<&str> {
    let mut out = Vec::new();
    split_recursively(text, Cut::Headings, bytes_max.max(4), &mut out);
    out
}

fn split_recursively<'a>(text: &'a str, by: Cut, most: usize, out: &mut Vec<&'a str>) {
    if text.len() <= most {
        out.push(text);
        return;
    }
    let Some(next) = by.next_finer() else {
        let mut rest = text;
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(rest.floor_char_boundary(most));
            out.push(head);
            rest = tail;
        }
        return;
    };
    let (mut from, mut to) = (0, 0);
    for end in by.find_piece_starts(text).into_iter().chain([text.len()]) {
        if end - from > most {
            if to > from {
                out.push(&text[from..to]);
                from = to;
            }
            if end - from > most {
                split_recursively(&text[from..end], next, most, out);
                from = end;
            }
        }
        to = end;
    }
    if to > from {
        out.push(&text[from..to]);
    }
}

impl Cut {
    fn next_finer(self) -> Option<Cut> {
        match self {
            Cut::Headings => Some(Cut::Paragraphs),
            Cut::Paragraphs => Some(Cut::Lines),
            Cut::Lines => Some(Cut::Sentences),
            Cut::Sentences => Some(Cut::Words),
            Cut::Words => Some(Cut::Characters),
            Cut::Characters => None,
        }
    }

    /// Returns the byte offsets at which pieces begin, in order, without the first one.
    fn find_piece_starts(self, text: &str) -> Vec<usize> {
        let lines = || {
            text.match_indices('\n')
                .map(|it| it.0 + 1)
                .filter(|it| *it < text.len())
        };
        match self {
            Cut::Headings => lines().filter(|it| is_heading(&text[*it..])).collect(),
            Cut::Paragraphs => {
                let blank = |at: &usize| text[..*at - 1].trim_end_matches([' ', '\t', '\r']).ends_with('\n');
                lines().filter(blank).collect()
            }
            Cut::Lines => lines().collect(),
            Cut::Sentences => {
                let place = |it: &str| it.as_ptr() as usize - text.as_ptr() as usize;
                split_sentences(text)
                    .into_iter()
                    .map(place)
                    .filter(|it| *it > 0)
                    .collect()
            }
            Cut::Words => {
                let ends = text.match_indices(char::is_whitespace);
                ends.map(|(at, blank)| at + blank.len())
                    .filter(|it| *it < text.len())
                    .collect()
            }
            Cut::Characters => Vec::new(),
        }
    }
}

/// Returns true if a text begins with a Markdown heading.
fn is_heading(text: &str) -> bool {
    let marks = text.len() - text.trim_start_matches('#').len();
    (1..=6).contains(&marks) && text[marks..].starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::split_text;

    #[test]
    fn a_text_is_cut_at_the_coarsest_structure_that_fits() {
        for (text, most, expected) in [
            ("short", 8, &["short"][..]),
            ("# A\nab\n\ncd\n# B\nef\n", 12, &["# A\nab\n\ncd\n", "# B\nef\n"]),
            ("ab cd\n\nef gh\nij kl", 14, &["ab cd\n\n", "ef gh\nij kl"]),
            ("ab cd\nef gh\nij", 9, &["ab cd\n", "ef gh\nij"]),
            ("I ran. She swam. We sat.", 17, &["I ran. She swam. ", "We sat."]),
            ("one two three", 8, &["one two ", "three"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("äöüß", 5, &["äö", "üß"]),
        ] {
            assert_eq!(split_text(text, most), expected, "{text}");
        }
        assert_eq!(split_text("", 8), [""]);
    }

    #[test]
    fn the_pieces_make_up_the_text_and_are_never_too_long() {
        let kinds = [
            "# Title\n\nA paragraph of words. Another sentence!\n\n",
            "日本語のテキスト。次の文。",
            "no-blank-at-all",
            "\r\n\r\n",
            "🦀\u{301} ",
        ];
        for kind in kinds {
            let text = kind.repeat(300);
            for most in [4, 5, 17, 100, 1_000] {
                let parts = split_text(&text, most);
                assert_eq!(parts.concat(), text, "{kind:?} by {most}");
                assert!(
                    parts.iter().all(|it| it.len() <= most && !it.is_empty()),
                    "{kind:?} by {most}"
                );
                // Two neighbours that would fit together are rare, so there are few pieces.
                assert!(
                    parts.len() <= 4 * text.len() / most + 4,
                    "{kind:?} by {most}: {}",
                    parts.len()
                );
            }
        }
    }
}
