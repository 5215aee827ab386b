use text::{Table, sparse};

/// What a short text says, in the forms in which questions are compared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// Terms of its stems, sorted, none twice.
    pub words: Vec<u32>,
    /// Its word pieces, sorted, none twice.
    pub pieces: Vec<u32>,
}

impl Wording {
    /// Reads a text.
    pub(super) fn of(text: &str) -> Wording {
        let words = text::stems(text).iter().map(|it| sparse::hash(it)).collect();
        Wording {
            words: set(words),
            pieces: set(Table::builtin().pieces(text)),
        }
    }

    /// Returns roughly how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        48 + 4 * (self.words.len() + self.pieces.len())
    }
}

fn set(mut terms: Vec<u32>) -> Vec<u32> {
    terms.sort_unstable();
    terms.dedup();
    terms
}
