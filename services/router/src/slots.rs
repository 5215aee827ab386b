//! The features of a unit: a fixed slot each. Adding, removing or changing the meaning of one raises [`VERSION`].

/// Version of the list and of what its entries mean; weights say which one they are for.
pub const VERSION: u32 = 6;

/// What a feature is about: features of one group say the same in an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// The words of the question.
    Words,
    /// Words of like meaning.
    Likeness,
    /// Matters of everyday life.
    Matter,
    /// The meaning as a whole.
    Meaning,
    /// What else it says.
    Else,
    /// The names of the question.
    Names,
    /// The one asked about says it of themselves.
    Own,
    /// Somebody else says it.
    Other,
    /// The user or the assistant of a talk says it.
    Role,
    /// The time asked about.
    Time,
    /// The kind of answer that is wanted.
    Kind,
    /// Wishes and habits.
    Wishes,
    /// It tells or asks.
    Asking,
    /// The turns around it.
    Around,
    /// Its session.
    Session,
    /// How late it was said.
    Age,
    /// Its length and form.
    Form,
    /// What belongs with the best.
    Chain,
}

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal of $group:ident,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub const $slot: usize = Number::$slot as usize;)*
        /// Names of the features, by slot.
        pub const NAMES: &[&str] = &[$($name,)*];
        /// What the features are about, by slot.
        pub const GROUPS: [Group; N] = [$(Group::$group,)*];
    };
}

slots! {
    /// BM25 of the stems, over the best of all candidates.
    BM25 = "bm25" of Words,
    /// BM25 of the stems, a tenth of it.
    BM25_RAW = "bm25_raw" of Words,
    /// Weight of the question's words that occur, 0 to 1.
    COVER = "cover" of Words,
    /// Weight of the words by the rarest matter of everyday life that word and turn share, as far as it exceeds the likeness.
    MATTER = "matter" of Matter,
    /// Number of the question's words that occur, at most 4, a quarter each.
    HITS = "hits" of Words,
    /// Rarity of the rarest word that occurs, over the rarest of the question.
    RARE = "rare" of Words,
    /// Neighbouring words of the question that stand in one sentence, by likeness.
    BIGRAM = "bigram" of Words,
    /// Weight of the question's words by likeness to the best word, 0 to 1.
    LATE = "late" of Likeness,
    /// `late` over the best of all candidates.
    LATE_TOP = "late_top" of Likeness,
    /// `late` of the best sentence.
    SENTENCE = "sentence" of Likeness,
    /// Weight of the words with a likeness above one half.
    STRONG = "strong" of Likeness,
    /// `late` over all words but the verb.
    NOUNS = "nouns" of Likeness,
    /// `late` over this turn, 0.7 of the one before, 0.5 of the one behind, 0.4 of the second before.
    WINDOW = "window" of Around,
    /// `window` minus `late`.
    GAIN = "gain" of Around,
    /// Cosine of the vectors by the built-in table.
    DENSE = "dense" of Meaning,
    /// `dense` between the least and the best of all candidates.
    DENSE_TOP = "dense_top" of Meaning,
    /// Cosine of the question with this turn and those around.
    DENSE_WINDOW = "dense_window" of Around,
    /// The first head's score over its best, 0 to 1.
    FIRST_TOP = "first_top" of Likeness,
    /// The first head's score.
    FIRST = "first" of Likeness,
    /// 5 / (5 + rank by the first head), rank from 1.
    FIRST_RANK = "first_rank" of Likeness,
    /// The first head's score over the best of the session.
    FIRST_SESSION = "first_session" of Session,
    /// Best first score within three turns, itself left out.
    NEAR = "near" of Around,
    /// `late` over this turn and the one before, minus `late`, if that asks and somebody else said it.
    ASKED = "asked" of Around,
    /// First score of the turn before, if that asks and somebody else said it.
    REPLY = "reply" of Around,
    /// First score of the turn before, if this one points back.
    BACK = "back" of Around,
    /// Mean of the three best first scores of the session, minus the best such mean.
    SESSION = "session" of Session,
    /// Weight of the question's words by likeness to the best word of the session.
    SESSION_COVER = "session_cover" of Session,
    /// Said by the one the question names.
    BY_NAMED = "by_named" of Own,
    /// Said by another while the question names somebody.
    BY_OTHER = "by_other" of Other,
    /// ln of how far the matching sentences speak of the one named; 0 if nobody is.
    OWNED = "owned" of Own,
    /// Rarity of the names of the question that occur, over all.
    NAMES_HERE = "names" of Names,
    /// The same over the turns within three.
    NAMES_NEAR = "names_near" of Names,
    /// Nearness of its times to the time asked about, 0 to 1; one half without one.
    IN_TIME = "in_time" of Time,
    /// `in_time` times `first_top`, if a time is asked about.
    IN_TIME_FIRST = "in_time_first" of Time,
    /// The pattern that the kind of question expects occurs.
    EXPECTED = "expected" of Kind,
    /// `expected` times `first_top`.
    EXPECTED_FIRST = "expected_first" of Kind,
    /// The tense of the question occurs.
    TENSE = "tense" of Kind,
    /// ln of the tokens, over 5.
    LENGTH = "length" of Form,
    /// Fewer than four content words.
    SHORT = "short" of Form,
    /// Share of sentences that ask; 0 for the user of an assistant.
    QUESTIONS = "questions" of Asking,
    /// Starts like a greeting or a comment.
    GREETING = "greeting" of Asking,
    /// Shows an image.
    CAPTION = "caption" of Form,
    /// Shows an image and the question asks about one.
    CAPTION_ASKED = "caption_asked" of Kind,
    /// Said by an assistant.
    ASSISTANT = "assistant" of Role,
    /// ln(tokens / 100) of an assistant's turn over 100 tokens; half of it if the question speaks to the assistant.
    ASSISTANT_LONG = "assistant_long" of Role,
    /// Tells of habits and likings while a message or advice is at hand.
    HABIT = "habit" of Wishes,
    /// States a standing wish.
    WISH = "wish" of Wishes,
    /// Place in the space, 0 to 1.
    LATER = "later" of Age,
    /// 5 / (5 + rank by `late`), rank from 1.
    LATE_RANK = "late_rank" of Likeness,
    /// Likeness squared, weighted as `late`.
    LATE_SHARP = "late_sharp" of Likeness,
    /// `late` with the weights squared, so that the rarest words decide.
    LATE_RARE = "late_rare" of Likeness,
    /// Mean likeness over the weaker half of the question's words.
    WEAKER = "weaker" of Likeness,
    /// `sentence` over the best of all candidates.
    SENTENCE_TOP = "sentence_top" of Likeness,
    /// 5 / (5 + rank by `dense`), rank from 1.
    DENSE_RANK = "dense_rank" of Meaning,
    /// Cosine of the best sentence.
    DENSE_SENTENCE = "dense_sentence" of Meaning,
    /// How far the question covers the words of the turn, by likeness and rarity.
    COVERED = "covered" of Else,
    /// `covered` over the best of all candidates.
    COVERED_TOP = "covered_top" of Else,
    /// `covered` of the best sentence; recall reads it.
    COVERED_SENTENCE = "covered_sentence" of Else,
    /// `covered_sentence` where a standing wish is stated.
    COVERED_WISH = "covered_wish" of Wishes,
    /// States what is wanted for good, 0 to 1 (`text::wishes`), while the question asks what to do.
    STANDING = "standing" of Wishes,
    /// `standing` times `first_top`.
    STANDING_FIRST = "standing_first" of Wishes,
    /// `standing` times `covered` of the best such sentence.
    STANDING_COVERED = "standing_covered" of Wishes,
    /// `standing`, said by the user of an assistant.
    STANDING_USER = "standing_user" of Wishes,
    /// Harmonic mean of `late` and `covered`.
    BOTH_SIDES = "both_sides" of Else,
    /// First score of the turn two before.
    BEFORE_2 = "before_2" of Around,
    /// First score of the turn before.
    BEFORE = "before" of Around,
    /// First score of the turn behind.
    AFTER = "after" of Around,
    /// First score of the turn two behind.
    AFTER_2 = "after_2" of Around,
    /// First score of the turn before, if the same one said it.
    BEFORE_SAME = "before_same" of Around,
    /// First score of the turn before, if this one is short.
    BEFORE_SHORT = "before_short" of Around,
    /// 5 / (5 + rank of the session by its three best first scores), rank from 1.
    SESSION_RANK = "session_rank" of Session,
    /// Best first score of the session, over the best of all.
    SESSION_BEST = "session_best" of Session,
    /// Mean cosine of the session's turns.
    SESSION_DENSE = "session_dense" of Session,
    /// Rarity of the names of the question that occur in the session, over all.
    SESSION_NAMES = "session_names" of Names,
    /// Said by the one named, times `first_top`.
    BY_NAMED_FIRST = "by_named_first" of Own,
    /// Said by another than the one named, times `first_top`.
    BY_OTHER_FIRST = "by_other_first" of Other,
    /// Said by another, speaking to "you".
    OTHER_TO_YOU = "other_to_you" of Other,
    /// Said by the one named, of "I".
    NAMED_OF_I = "named_of_i" of Own,
    /// Said by the user of an assistant.
    USER = "user" of Role,
    /// The same, times `first_top`.
    USER_FIRST = "user_first" of Role,
    /// Question and turn speak of plans.
    SAME_PLAN = "same_plan" of Kind,
    /// Question and turn speak of likings or habits.
    SAME_LIKING = "same_liking" of Kind,
    /// Question and turn speak of feelings.
    SAME_FEELING = "same_feeling" of Kind,
    /// Question and turn speak of family, friends or colleagues.
    SAME_KIN = "same_kin" of Kind,
    /// ln(1 + content words), over 3.
    WORDS = "words" of Form,
    /// Sum of the rarities of the content words, over 50.
    RARITY_SUM = "rarity_sum" of Form,
    /// Mean rarity of the content words, over 5.
    RARITY_MEAN = "rarity_mean" of Form,
    /// ln of the parts.
    PARTS = "parts" of Form,
    /// First of the session.
    OPENS = "opens" of Session,
    /// Ends with a question.
    ASKS = "asks" of Asking,
    /// Belongs with the best anchors, by the edge head.
    CHAINED = "chained" of Chain,
    /// Cosine by the sentence encoder, between the least hit of the index and the best; 0 without an encoder, as all below.
    ENCODED = "encoded" of Meaning,
    /// The same cosine over the best.
    ENCODED_TOP = "encoded_top" of Meaning,
    /// 5 / (5 + rank by `encoded`), rank from 1.
    ENCODED_RANK = "encoded_rank" of Meaning,
    /// `encoded` times `first_top`.
    ENCODED_FIRST = "encoded_first" of Meaning,
    /// `encoded` of the turn before.
    ENCODED_BEFORE = "encoded_before" of Around,
    /// `encoded` of the turn behind.
    ENCODED_AFTER = "encoded_after" of Around,
    /// Mean of `encoded` over the session's turns.
    ENCODED_SESSION = "encoded_session" of Session,
    /// Mean of the three best `encoded` of the session.
    ENCODED_SESSION_BEST = "encoded_session_best" of Session,
}

/// Number of features.
pub const N: usize = NAMES.len();
/// The features of one unit.
pub type Values = [f32; N];
