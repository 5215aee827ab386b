//! A word of a question.

/// One content word of a question.
pub struct Word {
    /// Its stem.
    pub stem: String,
    /// The term of the stem.
    pub term: u32,
    /// Its word pieces, rows of the built-in table.
    pub pieces: Vec<u32>,
    /// Number of parts of the space that contain the stem.
    pub df: u32,
    /// Rarity in the space.
    pub idf: f32,
    /// Share of the summed rarity of all words, 0 to 1.
    pub weight: f32,
    /// Everyday subjects (semantic frames) that the word suggests, each with its rarity in the space.
    pub matters: Vec<(u32, f32)>,
    /// True for the main verb.
    pub verb: bool,
}
