//! Texts that many units of a space have in common, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Number of a text in [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// Returns the number as bytes, to be packed with other contents.
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// Returns the symbol whose bytes [`Symbol::to_bytes`] returned.
    pub(crate) fn from_bytes(bytes: [u8; 4]) -> Symbol {
        Symbol(u32::from_le_bytes(bytes))
    }
}

/// Texts by number. A text stays until the space is dropped, even if no unit has it any longer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    numbers: HashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
}

impl Symbols {
    /// Returns the number of a text, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        // The memory limit is reached long before four billion texts.
        let symbol = Symbol(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, symbol);
        symbol
    }

    /// Returns the text of a number that these symbols gave.
    pub(crate) fn text(&self, symbol: Symbol) -> &Arc<str> {
        &self.texts[symbol.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut symbols = Symbols::default();
        let (one, other) = (symbols.intern("ferry"), symbols.intern("harbour"));
        assert_ne!(one, other);
        assert_eq!(symbols.intern("ferry"), one);
        assert_eq!((&**symbols.text(one), &**symbols.text(other)), ("ferry", "harbour"));
        assert_eq!(symbols.texts.len(), 2);
    }
}
