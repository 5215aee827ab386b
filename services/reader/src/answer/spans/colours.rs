//! Candidates that are colours.

use text::Nouns;

use super::{Finder, Shape};
use crate::word_lists::COLOURS;

impl Finder<'_> {
    /// Adds each colour with its shade: "dark green" of "my dark green gate".
    pub(super) fn add_colours(&mut self) {
        for at in 0..self.tokens.len() {
            let goes_on = self.is_joined(at + 1) && is_colour(&self.tokens[at + 1].lower);
            if goes_on || !is_colour(&self.tokens[at].lower) {
                continue;
            }
            let shaded = |it: &usize| {
                let before = &self.tokens[*it - 1].lower;
                self.is_joined(*it) && (is_colour(before) || is_shade(before))
            };
            let words = (1..=at).rev().take_while(shaded).count();
            self.push_span(at - words, at + 1, Shape::Colour);
        }
    }
}

/// Returns true if a word in lower case names a colour.
fn is_colour(lower: &str) -> bool {
    let kind = Nouns::builtin().find_kind("chromatic color");
    COLOURS.contains(lower) || kind.is_some_and(|it| Nouns::builtin().is_of_kind(&it, &[lower.to_owned()]))
}

fn is_shade(lower: &str) -> bool {
    matches!(lower, "dark" | "light" | "pale" | "bright" | "deep")
}
