//! The classes that words can be in.

/// Declares the classes, each with its name in the files.
macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal,)*) => {
        /// A class of words, see `data/LANGUAGE/lexicon.tsv`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class { $($(#[$doc])* $class,)* }

        /// All classes by their names in the files.
        pub(super) const ALL: &[(&str, Class)] = &[$(($name, Class::$class),)*];
    };
}

classes! {
    // Grammar
    /// Finite forms of be, have and do, and the modal verbs: what comes before a verb, or opens a yes-or-no question.
    Auxiliary = "auxiliary",
    /// Function words and greetings: they say nothing about what a text is about.
    Stop = "stop",
    /// What an apostrophe joins to a word: "she's", "they'll".
    ShortForm = "short-form",
    // Names and speakers
    /// Small words that may be part of a name: "Lord of the Rings".
    InsideName = "inside-name",
    /// Words that follow a name at the start of a sentence but hardly another word.
    AfterName = "after-name",
    /// Titles with a full stop that belong to the name after them.
    Title = "title",
    /// Words before a name with which somebody is spoken to.
    Call = "call",
    /// Words before a colon that look like a speaker and are none.
    LineLabel = "line-label",
    /// Words that speak of whoever writes a line.
    WriterSelf = "writer-self",
    /// How captions name the picture instead of what it shows.
    Medium = "medium",
    /// How captions open before they name anything.
    CaptionOpening = "caption-opening",
    /// Words before a full stop that do not end a sentence.
    Abbreviation = "abbreviation",
    /// Words before a full stop that end a sentence only if a capital follows.
    MaybeAbbreviation = "maybe-abbreviation",
    /// What an assistant or an agent is called that has no name.
    AssistantName = "assistant-name",
    // Patterns, which are features of fitted weights: a change needs new weights
    /// Dates and words that place something in time.
    PatternDate = "pattern-date",
    /// Words for numbers.
    PatternNumber = "pattern-number",
    /// Words for amounts of money and shares.
    PatternMoney = "pattern-money",
    /// Words that give a reason.
    PatternReason = "pattern-reason",
    /// Words of what is intended.
    PatternPlan = "pattern-plan",
    /// Words of liking, disliking and habit.
    PatternPreference = "pattern-preference",
    /// Frequent verbs in the past.
    PatternPast = "pattern-past",
    /// First person.
    PatternI = "pattern-i",
    /// Second person.
    PatternYou = "pattern-you",
    /// Family, friends, colleagues.
    PatternKin = "pattern-kin",
    /// Words for feelings.
    PatternFeeling = "pattern-feeling",
    /// Words of a standing wish.
    PatternInstruction = "pattern-instruction",
    /// Units of time that are counted or follow "last" and "every".
    PatternUnit = "pattern-unit",
    /// Openings of greetings and comments.
    PatternGreeting = "pattern-greeting",
    /// Words that point back.
    PatternAnaphor = "pattern-anaphor",
    /// Words before the name of a place.
    PatternPlace = "pattern-place",
    /// Yes and no.
    PatternYesNo = "pattern-yes-no",
    // Whom a sentence speaks of
    /// Openings of questions, also of those without a question mark.
    OpensQuestion = "opens-question",
    /// The speaker alone.
    FirstPerson = "first-person",
    /// The speaker with others.
    FirstPersonPlural = "first-person-plural",
    /// Whoever is spoken to.
    SecondPerson = "second-person",
    /// "I hope you ...": the speaker looks at the other's affair.
    Attitude = "attitude",
    /// Praise and comment: about what the other has just told.
    Evaluation = "evaluation",
    /// Small words before a sentence begins.
    Interjection = "interjection",
    /// Openings of a sentence whose dropped subject is "I".
    DroppedI = "dropped-i",
    /// Openings of advice and requests: about what the other should do.
    Advice = "advice",
    // What is wanted for good
    /// Small words before an order.
    WishOpening = "wish-opening",
    /// Words of what is to hold from now on.
    ForGood = "for-good",
    /// What one asks an assistant for.
    AskedOfAssistant = "asked-of-assistant",
    /// Asks for something to be made or proposed.
    Make = "make",
    /// Words with which a question asks what happened.
    AsksPast = "asks-past",
    /// What follows "don't" and "call me" in an order for this once: "don't worry", "call me back later".
    MildOrder = "mild-order",
    /// What follows "always" and "never" where nothing is ordered: "always a pleasure", "never mind".
    NoOrder = "no-order",
    /// Words between two wishes.
    JoinsWishes = "joins-wishes",
    /// Verbs with which somebody asks what to do.
    AsksAdvice = "asks-advice",
    /// What opens a question for what one can or must do.
    AsksHow = "asks-how",
    /// Auxiliaries of what one can or must do.
    MayDo = "may-do",
    /// Persons that a question for advice can be about.
    AnyPerson = "any-person",
    /// Auxiliaries that open a request.
    RequestVerb = "request-verb",
    /// Words that say no or never, or only.
    Restriction = "restriction",
    /// Words of diets, allergies and preferences.
    LastingTaste = "lasting-taste",
    /// Persons whose likings are told.
    WhoseTaste = "whose-taste",
    /// Verbs and adverbs of likings and habits.
    Taste = "taste",
    /// What denies the verb after it.
    Refusal = "refusal",
    /// Verbs that name a ban or a dislike after a denial.
    RefusedVerb = "refused-verb",
    /// Words by which a request is one for good.
    AsksForGood = "asks-for-good",
    /// Words for advice.
    Tip = "tip",
}
