//! The features of a unit, each with a fixed slot. If you add, remove or redefine a feature, increase [`VERSION`].

/// Version of the list and of the meaning of its entries. Weights name the version that they were trained for.
pub const VERSION: u32 = 6;

/// The subject of a feature. An explanation adds up the features of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Whether the words of the question occur.
    Words,
    /// Whether words of similar meaning occur.
    Likeness,
    /// Shared everyday subjects (semantic frames).
    Matter,
    /// The meaning of the whole text.
    Meaning,
    /// Content of the text that the question does not mention.
    Else,
    /// Whether the names of the question occur.
    Names,
    /// Whether the person in the question speaks.
    Own,
    /// Whether another person speaks.
    Other,
    /// Whether the user or the assistant speaks.
    Role,
    /// Closeness to the time asked about.
    Time,
    /// Whether it has the requested kind of answer.
    Kind,
    /// Wishes and habits.
    Wishes,
    /// Whether it states or asks.
    Asking,
    /// The turns around it.
    Around,
    /// The session of the turn.
    Session,
    /// Time of the turn within the space.
    Age,
    /// Length and form of the text.
    Form,
    /// Connection to the best units.
    Chain,
}

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident = $name:literal of $group:ident,)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
        enum Number { $($slot,)* }
        $($(#[$doc])* pub const $slot: usize = Number::$slot as usize;)*
        /// Names of the features, by slot.
        pub const NAMES: &[&str] = &[$($name,)*];
        /// Groups of the features, by slot.
        pub const GROUPS: [Group; N] = [$(Group::$group,)*];
    };
}

slots! {
    /// BM25 of the stems, divided by the best of all candidates.
    BM25 = "bm25" of Words,
    /// BM25 of the stems, divided by 10.
    BM25_RAW = "bm25_raw" of Words,
    /// Weight of the words of the question that occur, 0 to 1.
    COVER = "cover" of Words,
    /// Weight of the words by the rarest everyday subject that word and turn share, as far as it exceeds the
    /// similarity.
    MATTER = "matter" of Matter,
    /// Number of words of the question that occur, at most 4, divided by 4.
    HITS = "hits" of Words,
    /// Rarity of the rarest word that occurs, divided by the rarest of the question.
    RARE = "rare" of Words,
    /// How far neighbouring words of the question occur in one sentence, by similarity.
    BIGRAM = "bigram" of Words,
    /// Weight of the words of the question by similarity to the best word, 0 to 1.
    LATE = "late" of Likeness,
    /// `late` divided by the best of all candidates.
    LATE_TOP = "late_top" of Likeness,
    /// `late` of the best sentence.
    SENTENCE = "sentence" of Likeness,
    /// Weight of the words with a similarity above 0.5.
    STRONG = "strong" of Likeness,
    /// `late` over all words but the verb.
    NOUNS = "nouns" of Likeness,
    /// `late` over this turn, 0.7 of the turn before, 0.5 of the turn after, and 0.4 of the second turn before.
    WINDOW = "window" of Around,
    /// `window` minus `late`.
    GAIN = "gain" of Around,
    /// Cosine of the vectors by the built-in table.
    DENSE = "dense" of Meaning,
    /// `dense` scaled between the least and the best of all candidates.
    DENSE_TOP = "dense_top" of Meaning,
    /// Cosine of the question with this turn and the turns around it.
    DENSE_WINDOW = "dense_window" of Around,
    /// The first head's score divided by the best such score, 0 to 1.
    FIRST_TOP = "first_top" of Likeness,
    /// The first head's score.
    FIRST = "first" of Likeness,
    /// 5 / (5 + rank by the first head), rank from 1.
    FIRST_RANK = "first_rank" of Likeness,
    /// The first head's score divided by the best of the session.
    FIRST_SESSION = "first_session" of Session,
    /// Best first score within three turns, without this turn.
    NEAR = "near" of Around,
    /// `late` over this turn and the turn before, minus `late`, if that turn asks and another person said it.
    ASKED = "asked" of Around,
    /// First score of the turn before, if that turn asks and another person said it.
    REPLY = "reply" of Around,
    /// First score of the turn before, if this turn refers back to it.
    BACK = "back" of Around,
    /// Mean of the three best first scores of the session, minus the best such mean.
    SESSION = "session" of Session,
    /// Weight of the words of the question by similarity to the best word of the session.
    SESSION_COVER = "session_cover" of Session,
    /// 1 if the person whom the question names says it.
    BY_NAMED = "by_named" of Own,
    /// 1 if the question names a person and another person speaks.
    BY_OTHER = "by_other" of Other,
    /// ln of how far the matching sentences are about the named person; 0 if the question names no person.
    OWNED = "owned" of Own,
    /// Rarity of the names of the question that occur, divided by that of all its names.
    NAMES_HERE = "names" of Names,
    /// `names` over this turn and the three turns before and after it.
    NAMES_NEAR = "names_near" of Names,
    /// Closeness of its times to the time asked about, 0 to 1; 0.5 if the question names no time.
    IN_TIME = "in_time" of Time,
    /// `in_time` times `first_top`, if the question names a time.
    IN_TIME_FIRST = "in_time_first" of Time,
    /// 1 if the pattern that the kind of question expects occurs.
    EXPECTED = "expected" of Kind,
    /// `expected` times `first_top`.
    EXPECTED_FIRST = "expected_first" of Kind,
    /// 1 if the tense of the question occurs.
    TENSE = "tense" of Kind,
    /// ln of the tokens, divided by 5.
    LENGTH = "length" of Form,
    /// 1 for fewer than four content words.
    SHORT = "short" of Form,
    /// Share of the sentences that ask; 0 for the user of an assistant.
    QUESTIONS = "questions" of Asking,
    /// 1 if it starts like a greeting or a comment.
    GREETING = "greeting" of Asking,
    /// 1 if it shows an image.
    CAPTION = "caption" of Form,
    /// 1 if it shows an image and the question asks about one.
    CAPTION_ASKED = "caption_asked" of Kind,
    /// 1 if an assistant says it.
    ASSISTANT = "assistant" of Role,
    /// ln(tokens / 100) of an assistant's turn over 100 tokens; half of it if the question addresses the assistant.
    ASSISTANT_LONG = "assistant_long" of Role,
    /// 1 if it mentions habits or preferences and the question is a message or asks about what a person said or
    /// advises.
    HABIT = "habit" of Wishes,
    /// 1 if it states a standing wish.
    WISH = "wish" of Wishes,
    /// Position in the space, 0 to 1.
    LATER = "later" of Age,
    /// 5 / (5 + rank by `late`), rank from 1.
    LATE_RANK = "late_rank" of Likeness,
    /// Squared similarity, weighted like `late`.
    LATE_SHARP = "late_sharp" of Likeness,
    /// `late` with squared weights, so that the rarest words decide.
    LATE_RARE = "late_rare" of Likeness,
    /// Mean similarity over the weaker half of the words of the question.
    WEAKER = "weaker" of Likeness,
    /// `sentence` divided by the best of all candidates.
    SENTENCE_TOP = "sentence_top" of Likeness,
    /// 5 / (5 + rank by `dense`), rank from 1.
    DENSE_RANK = "dense_rank" of Meaning,
    /// Cosine of the best sentence.
    DENSE_SENTENCE = "dense_sentence" of Meaning,
    /// How far the question covers the words of the turn, by similarity and rarity.
    COVERED = "covered" of Else,
    /// `covered` divided by the best of all candidates.
    COVERED_TOP = "covered_top" of Else,
    /// `covered` of the best sentence. Recall uses it.
    COVERED_SENTENCE = "covered_sentence" of Else,
    /// `covered_sentence` if the turn states a standing wish.
    COVERED_WISH = "covered_wish" of Wishes,
    /// How clearly it states a standing wish, 0 to 1 (`text::question::wishes`), if the question asks what to do.
    STANDING = "standing" of Wishes,
    /// `standing` times `first_top`.
    STANDING_FIRST = "standing_first" of Wishes,
    /// `standing` times `covered`, of the sentence with the greatest product.
    STANDING_COVERED = "standing_covered" of Wishes,
    /// `standing`, if the user of an assistant says it.
    STANDING_USER = "standing_user" of Wishes,
    /// Harmonic mean of `late` and `covered`.
    BOTH_SIDES = "both_sides" of Else,
    /// First score of the second turn before.
    BEFORE_2 = "before_2" of Around,
    /// First score of the turn before.
    BEFORE = "before" of Around,
    /// First score of the turn after.
    AFTER = "after" of Around,
    /// First score of the second turn after.
    AFTER_2 = "after_2" of Around,
    /// First score of the turn before, if the same person said it.
    BEFORE_SAME = "before_same" of Around,
    /// First score of the turn before, if this turn is short.
    BEFORE_SHORT = "before_short" of Around,
    /// 5 / (5 + rank of the session by its three best first scores), rank from 1.
    SESSION_RANK = "session_rank" of Session,
    /// Best first score of the session, divided by the best of all.
    SESSION_BEST = "session_best" of Session,
    /// Mean cosine of the session's turns.
    SESSION_DENSE = "session_dense" of Session,
    /// Rarity of the names of the question that occur in the turn with most of them in the session, divided by the
    /// rarity of all names of the question.
    SESSION_NAMES = "session_names" of Names,
    /// `by_named` times `first_top`.
    BY_NAMED_FIRST = "by_named_first" of Own,
    /// `by_other` times `first_top`.
    BY_OTHER_FIRST = "by_other_first" of Other,
    /// `by_other`, if the turn addresses "you".
    OTHER_TO_YOU = "other_to_you" of Other,
    /// `by_named`, if the turn speaks of "I".
    NAMED_OF_I = "named_of_i" of Own,
    /// 1 if the user of an assistant says it.
    USER = "user" of Role,
    /// `user` times `first_top`.
    USER_FIRST = "user_first" of Role,
    /// 1 if question and turn mention plans.
    SAME_PLAN = "same_plan" of Kind,
    /// 1 if question and turn mention preferences or habits.
    SAME_LIKING = "same_liking" of Kind,
    /// 1 if question and turn mention feelings.
    SAME_FEELING = "same_feeling" of Kind,
    /// 1 if question and turn mention family, friends or colleagues.
    SAME_KIN = "same_kin" of Kind,
    /// ln(1 + content words), divided by 3.
    WORDS = "words" of Form,
    /// Sum of the rarities of the content words, divided by 50.
    RARITY_SUM = "rarity_sum" of Form,
    /// Mean rarity of the content words, divided by 5.
    RARITY_MEAN = "rarity_mean" of Form,
    /// ln of the number of parts.
    PARTS = "parts" of Form,
    /// 1 for the first turn of the session.
    OPENS = "opens" of Session,
    /// 1 if it ends with a question.
    ASKS = "asks" of Asking,
    /// Connection to the best anchors, by the edge head.
    CHAINED = "chained" of Chain,
    /// Cosine by the sentence encoder, scaled between the least and the best hit of the index. This feature and all
    /// below are 0 without an encoder.
    ENCODED = "encoded" of Meaning,
    /// Cosine by the sentence encoder, divided by the best.
    ENCODED_TOP = "encoded_top" of Meaning,
    /// 5 / (5 + rank by `encoded`), rank from 1.
    ENCODED_RANK = "encoded_rank" of Meaning,
    /// `encoded` times `first_top`.
    ENCODED_FIRST = "encoded_first" of Meaning,
    /// `encoded` of the turn before.
    ENCODED_BEFORE = "encoded_before" of Around,
    /// `encoded` of the turn after.
    ENCODED_AFTER = "encoded_after" of Around,
    /// Mean of `encoded` over the session's turns.
    ENCODED_SESSION = "encoded_session" of Session,
    /// Mean of the three greatest `encoded` of the session.
    ENCODED_SESSION_BEST = "encoded_session_best" of Session,
}

/// Number of features.
pub const N: usize = NAMES.len();
/// The features of one unit.
pub type Values = [f32; N];
