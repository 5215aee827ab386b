//! The language of a page, in which its headings and dates are written.

use domain::page::Section;
use text::gloss::{PageTexts, page_texts};

/// Maximum number of bytes of lines from which the language is detected.
const READ_BYTES: usize = 2_000;

/// Returns the fixed texts in the language of most lines of a page. Sentences of facts by rule are in English whatever
/// people speak, so they count only if no event is on the page.
pub(crate) fn texts_of_sections(sections: &[Section]) -> &'static PageTexts {
    let lines_of = |is_used: fn(&Section) -> bool| {
        let lines = sections.iter().filter(move |it| is_used(it)).flat_map(|it| &it.lines);
        lines.map(|it| it.text.as_str())
    };
    match lines_of(holds_events).next() {
        Some(_) => texts_of_lines(lines_of(holds_events)),
        None => texts_of_lines(lines_of(|_| true)),
    }
}

/// Returns the fixed texts in the language of most of these lines.
pub(crate) fn texts_of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> &'static PageTexts {
    let mut read = String::new();
    for line in lines {
        read.push_str(line);
        read.push('\n');
        if read.len() >= READ_BYTES {
            break;
        }
    }
    page_texts(&read)
}

fn holds_events(section: &Section) -> bool {
    section.category == "events"
}
