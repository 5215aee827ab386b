//! The features of a unit: a fixed slot each. Adding, removing or changing the meaning of one raises [`VERSION`].

/// Version of the list and of what its entries mean; weights say which one they are for.
pub const VERSION: u32 = 2;

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub const $slot: usize = Number::$slot as usize;)*
        /// Names of the features, by slot.
        pub const NAMES: &[&str] = &[$($name,)*];
    };
}

slots! {
    /// BM25 of the stems, over the best of all candidates.
    BM25 = "bm25",
    /// BM25 of the stems, a tenth of it.
    BM25_RAW = "bm25_raw",
    /// Weight of the question's words that occur, 0 to 1.
    COVER = "cover",
    /// Number of the question's words that occur, at most 4, a quarter each.
    HITS = "hits",
    /// Rarity of the rarest word that occurs, over the rarest of the question.
    RARE = "rare",
    /// Neighbouring words of the question that stand in one sentence, by likeness.
    BIGRAM = "bigram",
    /// Weight of the question's words by likeness to the best word, 0 to 1.
    LATE = "late",
    /// `late` over the best of all candidates.
    LATE_TOP = "late_top",
    /// `late` of the best sentence.
    SENTENCE = "sentence",
    /// Weight of the words with a likeness above one half.
    STRONG = "strong",
    /// `late` over all words but the verb.
    NOUNS = "nouns",
    /// `late` over this turn, 0.7 of the one before, 0.5 of the one behind, 0.4 of the second before.
    WINDOW = "window",
    /// `window` minus `late`.
    GAIN = "gain",
    /// Cosine of the vectors by the built-in table.
    DENSE = "dense",
    /// `dense` between the least and the best of all candidates.
    DENSE_TOP = "dense_top",
    /// Cosine of the question with this turn and those around.
    DENSE_WINDOW = "dense_window",
    /// The first head's score over its best, 0 to 1.
    FIRST_TOP = "first_top",
    /// The first head's score.
    FIRST = "first",
    /// 5 / (5 + rank by the first head), rank from 1.
    FIRST_RANK = "first_rank",
    /// The first head's score over the best of the session.
    FIRST_SESSION = "first_session",
    /// Best first score within three turns, itself left out.
    NEAR = "near",
    /// First score of the turn before, if that asks and somebody else said it.
    REPLY = "reply",
    /// First score of the turn before, if this one points back.
    BACK = "back",
    /// First score of the turn behind, if this one asks.
    ASKS_AHEAD = "asks_ahead",
    /// Mean of the three best first scores of the session, minus the best such mean.
    SESSION = "session",
    /// Weight of the question's words by likeness to the best word of the session.
    SESSION_COVER = "session_cover",
    /// Said by the one the question names.
    BY_NAMED = "by_named",
    /// Said by another while the question names somebody.
    BY_OTHER = "by_other",
    /// ln of how far the matching sentences speak of the one named; 0 if nobody is.
    OWNED = "owned",
    /// Rarity of the names of the question that occur, over all.
    NAMES_HERE = "names",
    /// The same over the turns within three.
    NAMES_NEAR = "names_near",
    /// Nearness of its times to the time asked about, 0 to 1; one half without one.
    IN_TIME = "in_time",
    /// `in_time` times `first_top`, if a time is asked about.
    IN_TIME_FIRST = "in_time_first",
    /// The pattern that the kind of question expects occurs.
    EXPECTED = "expected",
    /// `expected` times `first_top`.
    EXPECTED_FIRST = "expected_first",
    /// The tense of the question occurs.
    TENSE = "tense",
    /// ln of the tokens, over 5.
    LENGTH = "length",
    /// Fewer than four content words.
    SHORT = "short",
    /// Share of sentences that ask; 0 for the user of an assistant.
    QUESTIONS = "questions",
    /// Starts like a greeting or a comment.
    GREETING = "greeting",
    /// Shows an image.
    CAPTION = "caption",
    /// Shows an image and the question asks about one.
    CAPTION_ASKED = "caption_asked",
    /// Said by an assistant.
    ASSISTANT = "assistant",
    /// ln(tokens / 100) of an assistant's turn over 100 tokens; half of it if the question speaks to the assistant.
    ASSISTANT_LONG = "assistant_long",
    /// Tells of habits and likings while a message or advice is at hand.
    HABIT = "habit",
    /// States a standing wish.
    WISH = "wish",
    /// Place in the space, 0 to 1.
    LATER = "later",
    /// 5 / (5 + rank by `late`), rank from 1.
    LATE_RANK = "late_rank",
    /// Likeness squared, weighted as `late`.
    LATE_SHARP = "late_sharp",
    /// `late` with the weights squared, so that the rarest words decide.
    LATE_RARE = "late_rare",
    /// Mean likeness over the weaker half of the question's words.
    WEAKER = "weaker",
    /// `sentence` over the best of all candidates.
    SENTENCE_TOP = "sentence_top",
    /// 5 / (5 + rank by `dense`), rank from 1.
    DENSE_RANK = "dense_rank",
    /// Cosine of the best sentence.
    DENSE_SENTENCE = "dense_sentence",
    /// How far the question covers the words of the turn, by likeness and rarity.
    COVERED = "covered",
    /// `covered` over the best of all candidates.
    COVERED_TOP = "covered_top",
    /// `covered` of the best sentence.
    COVERED_SENTENCE = "covered_sentence",
    /// `covered_sentence` where a standing wish is stated.
    COVERED_WISH = "covered_wish",
    /// Harmonic mean of `late` and `covered`.
    BOTH_SIDES = "both_sides",
    /// First score of the turn two before.
    BEFORE_2 = "before_2",
    /// First score of the turn before.
    BEFORE = "before",
    /// First score of the turn behind.
    AFTER = "after",
    /// First score of the turn two behind.
    AFTER_2 = "after_2",
    /// First score of the turn before, if the same one said it.
    BEFORE_SAME = "before_same",
    /// First score of the turn before, if this one starts with yes or no.
    BEFORE_YES = "before_yes",
    /// First score of the turn before, if this one is short.
    BEFORE_SHORT = "before_short",
    /// 5 / (5 + rank of the session by its three best first scores), rank from 1.
    SESSION_RANK = "session_rank",
    /// Best first score of the session, over the best of all.
    SESSION_BEST = "session_best",
    /// Mean cosine of the session's turns.
    SESSION_DENSE = "session_dense",
    /// Rarity of the names of the question that occur in the session, over all.
    SESSION_NAMES = "session_names",
    /// Said by the one named, times `first_top`.
    BY_NAMED_FIRST = "by_named_first",
    /// Said by another than the one named, times `first_top`.
    BY_OTHER_FIRST = "by_other_first",
    /// Said by another, speaking to "you".
    OTHER_TO_YOU = "other_to_you",
    /// Said by the one named, of "I".
    NAMED_OF_I = "named_of_i",
    /// Said by the user of an assistant.
    USER = "user",
    /// The same, times `first_top`.
    USER_FIRST = "user_first",
    /// Question and turn speak of plans.
    SAME_PLAN = "same_plan",
    /// Question and turn speak of likings or habits.
    SAME_LIKING = "same_liking",
    /// Question and turn speak of feelings.
    SAME_FEELING = "same_feeling",
    /// Question and turn speak of family, friends or colleagues.
    SAME_KIN = "same_kin",
    /// ln(1 + content words), over 3.
    WORDS = "words",
    /// Sum of the rarities of the content words, over 50.
    RARITY_SUM = "rarity_sum",
    /// Mean rarity of the content words, over 5.
    RARITY_MEAN = "rarity_mean",
    /// ln of the parts.
    PARTS = "parts",
    /// Place in the session, 0 to 1.
    IN_SESSION = "in_session",
    /// First of the session.
    OPENS = "opens",
    /// Last of the session.
    CLOSES = "closes",
    /// Ends with a question.
    ASKS = "asks",
    /// Belongs with the best anchors, by the edge head.
    CHAINED = "chained",
}

/// Number of features.
pub const N: usize = NAMES.len();
/// The features of one unit.
pub type Values = [f32; N];
