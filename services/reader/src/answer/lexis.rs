//! Word classes of English by list and ending, enough to cut phrases: any other word counts as a noun or adjective, which
//! also makes phrases of other languages whole runs between function words.

/// Class of a word as far as phrases need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Articles, possessives, demonstratives.
    Determiner,
    /// Personal pronouns, contracted or not.
    Pronoun,
    /// Forms of be, have, do and the modal verbs.
    Auxiliary,
    /// Prepositions and "to".
    Preposition,
    /// Words that join phrases or open clauses.
    Conjunction,
    /// Adverbs and fillers that phrases do not start or end with.
    Filler,
    /// Finite verbs and participles of the past.
    Verb,
    /// Words in -ing: both verb and noun.
    Gerund,
    /// Numbers in digits or words.
    Number,
    /// Capitalised inside a sentence.
    Name,
    /// Nouns, adjectives and everything else.
    Content,
}

/// Returns the class of a word; `lower` is its lower-case form, `first` whether it opens the sentence.
pub(crate) fn class(word: &str, lower: &str, first: bool) -> Class {
    let base = lower.split('\'').next().unwrap_or(lower);
    if lower.contains('\'') && !lower.ends_with("'s")
        || matches!(lower, "it's" | "that's" | "he's" | "she's" | "there's")
    {
        return if is(PRONOUNS, base) || base == "that" || base == "there" {
            Class::Pronoun
        } else {
            Class::Auxiliary
        };
    }
    if number(lower).is_some() {
        return Class::Number;
    }
    for (list, class) in [
        (DETERMINERS, Class::Determiner),
        (PRONOUNS, Class::Pronoun),
        (AUXILIARIES, Class::Auxiliary),
        (PREPOSITIONS, Class::Preposition),
        (CONJUNCTIONS, Class::Conjunction),
        (FILLERS, Class::Filler),
    ] {
        if is(list, lower) {
            return class;
        }
    }
    let capital = word.chars().next().is_some_and(char::is_uppercase);
    if capital && !first {
        return Class::Name;
    }
    if is(VERBS, lower) || (lower.len() > 4 && lower.ends_with("ed") && !is(NOT_VERBS, lower)) {
        return Class::Verb;
    }
    if lower.len() > 5 && lower.ends_with("ing") && !is(NOT_VERBS, lower) {
        return Class::Gerund;
    }
    Class::Content
}

/// Returns the value of a number in digits or one word.
pub(crate) fn number(lower: &str) -> Option<f32> {
    if lower.starts_with(|c: char| c.is_ascii_digit()) {
        let digits: String = lower.chars().filter(|it| it.is_ascii_digit() || *it == '.').collect();
        return digits.parse().ok();
    }
    let at = NUMBERS.iter().position(|it| *it == lower)?;
    Some(if at <= 20 {
        at as f32
    } else {
        [30.0, 40.0, 50.0, 100.0, 1000.0, 12.0, 1.0, 2.0, 2.0][at - 21]
    })
}

/// Says whether a word is a unit of time.
pub(crate) fn duration(lower: &str) -> bool {
    let base = lower.strip_suffix('s').unwrap_or(lower);
    matches!(
        base,
        "second" | "minute" | "hour" | "day" | "night" | "week" | "weekend" | "month" | "year" | "decade" | "century"
    )
}

/// Says whether a word denies.
pub(crate) fn denies(lower: &str) -> bool {
    lower.ends_with("n't") || is(DENIALS, lower)
}

/// Says whether a word is kin or another person by role.
pub(crate) fn person(lower: &str) -> bool {
    is(PERSONS, lower.strip_suffix('s').unwrap_or(lower)) || is(PERSONS, lower)
}

fn is(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

const NUMBERS: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "hundred",
    "thousand",
    "dozen",
    "once",
    "twice",
    "couple",
];
const DENIALS: &[&str] = &[
    "not",
    "never",
    "no",
    "nope",
    "nah",
    "neither",
    "nobody",
    "nothing",
    "none",
    "hardly",
    "barely",
    "cannot",
    "without",
    "instead",
    "except",
    "refused",
    "declined",
    "failed",
    "unable",
    "cancelled",
    "canceled",
    "nowhere",
];
const DETERMINERS: &[&str] = &[
    "a", "an", "the", "my", "your", "our", "his", "her", "their", "its", "this", "that", "these", "those", "some",
    "any", "every", "each", "another", "all", "both", "el", "la", "los", "las", "un", "una", "le", "les", "une", "der",
    "ein", "eine", "mi", "mein", "meine", "mon", "ma",
];
const PRONOUNS: &[&str] = &[
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "me",
    "him",
    "us",
    "them",
    "myself",
    "yourself",
    "everyone",
    "someone",
    "everything",
    "something",
    "anything",
    "nothing",
    "mine",
    "yours",
    "there",
    "it'd",
    "im",
    "u",
    "ya",
    "one",
];
const AUXILIARIES: &[&str] = &[
    "am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "have", "has", "had", "having",
    "will", "would", "can", "could", "should", "might", "may", "must", "shall", "gonna", "gotta", "wanna", "not",
    "cannot",
];
const PREPOSITIONS: &[&str] = &[
    "in", "on", "at", "to", "from", "with", "for", "of", "by", "about", "into", "onto", "after", "before", "during",
    "near", "around", "over", "through", "under", "without", "between", "since", "until", "till", "like", "as",
    "against", "along", "across", "behind", "beside", "beyond", "inside", "outside", "off", "toward", "towards", "via",
    "among", "within", "up", "down", "out", "en", "de", "del", "con", "por", "para", "dans", "avec", "chez", "mit",
    "nach", "von", "aus", "em", "com",
];
const CONJUNCTIONS: &[&str] = &[
    "and", "or", "but", "so", "because", "while", "when", "if", "which", "who", "whose", "where", "than", "though",
    "although", "what", "how", "why", "cause", "cuz", "whether", "unless", "nor", "plus", "&",
];
const FILLERS: &[&str] = &[
    "really",
    "very",
    "just",
    "too",
    "also",
    "always",
    "even",
    "still",
    "now",
    "then",
    "here",
    "actually",
    "definitely",
    "totally",
    "super",
    "pretty",
    "quite",
    "maybe",
    "probably",
    "never",
    "already",
    "yet",
    "again",
    "soon",
    "ever",
    "well",
    "oh",
    "wow",
    "hey",
    "hi",
    "yeah",
    "yes",
    "yep",
    "no",
    "nope",
    "thanks",
    "thank",
    "please",
    "lol",
    "haha",
    "hello",
    "ok",
    "okay",
    "absolutely",
    "honestly",
    "recently",
    "lately",
    "finally",
    "usually",
    "often",
    "sometimes",
    "more",
    "most",
    "much",
    "only",
    "ago",
    "together",
    "btw",
    "sure",
    "congrats",
    "anyway",
    "today",
    "yesterday",
    "tomorrow",
    "tonight",
    "last",
    "next",
    "such",
    "back",
    "away",
    "btw",
    "bye",
    "currently",
    "especially",
    "almost",
    "kinda",
    "sorta",
];
const VERBS: &[&str] = &[
    "go", "goes", "went", "gone", "get", "gets", "got", "make", "makes", "made", "take", "takes", "took", "taken",
    "see", "sees", "saw", "seen", "know", "knows", "knew", "think", "thinks", "thought", "want", "wants", "come",
    "comes", "came", "give", "gives", "gave", "find", "finds", "found", "tell", "tells", "told", "feel", "feels",
    "felt", "keep", "keeps", "kept", "let", "lets", "begin", "began", "bring", "brings", "brought", "buy", "bought",
    "build", "built", "say", "says", "said", "read", "run", "ran", "win", "won", "lose", "lost", "meet", "met", "send",
    "sent", "spend", "spent", "teach", "taught", "learn", "learnt", "love", "loves", "like", "likes", "enjoy",
    "enjoys", "hope", "need", "needs", "help", "helps", "try", "tries", "start", "starts", "play", "plays", "watch",
    "watches", "eat", "ate", "eats", "write", "wrote", "writes", "draw", "drew", "sing", "sang", "swim", "swam",
    "ride", "rode", "drive", "drove", "fly", "flew", "leave", "left", "live", "lives", "move", "moves", "visit",
    "join", "joins", "plan", "plans", "show", "shows", "use", "uses", "became", "become", "becomes", "remind",
    "reminds", "mean", "means", "meant", "inspire", "inspires", "cook", "cooks", "bake", "bakes", "grew", "grow",
    "grows", "put", "set", "sets", "sit", "sat", "stay", "stays", "stood", "wear", "wore", "hear", "heard", "look",
    "looks", "sound", "sounds", "wait", "check", "share", "create", "creates", "support", "hang", "hung", "caught",
    "catch", "chose", "choose", "broke", "break", "spoke", "speak", "sold", "sell", "paid", "pay", "quit", "gives",
    "lead", "led", "ended", "end", "add", "adds", "turn", "turns", "explore", "stop", "talk", "works", "fell", "threw",
    "slept", "stole", "woke", "tore", "shook", "froze", "hid", "forgot", "lent", "dug", "stuck", "struck", "swept",
    "fought", "held", "drank", "ran", "rang", "sank", "wept", "slid",
];
const NOT_VERBS: &[&str] = &[
    "during",
    "evening",
    "morning",
    "something",
    "anything",
    "nothing",
    "everything",
    "wedding",
    "ceiling",
    "spring",
    "string",
    "hundred",
    "need",
    "speed",
    "seed",
    "building",
    "clothing",
    "feeling",
    "feelings",
    "interesting",
    "amazing",
    "exciting",
    "red",
    "bed",
    "excited",
    "tired",
    "interested",
    "naked",
    "sacred",
];
const PERSONS: &[&str] = &[
    "mother",
    "mom",
    "mum",
    "father",
    "dad",
    "sister",
    "brother",
    "son",
    "daughter",
    "wife",
    "husband",
    "partner",
    "friend",
    "aunt",
    "uncle",
    "cousin",
    "grandma",
    "grandpa",
    "grandmother",
    "grandfather",
    "niece",
    "nephew",
    "boss",
    "colleague",
    "coworker",
    "teacher",
    "coach",
    "mentor",
    "neighbor",
    "neighbour",
    "roommate",
    "girlfriend",
    "boyfriend",
    "parent",
    "kid",
    "child",
    "children",
    "family",
    "team",
    "classmate",
    "doctor",
    "therapist",
    "fiance",
    "fiancee",
    "people",
];
