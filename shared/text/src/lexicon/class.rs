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
    /// Finite forms of be, have and do, and the modal verbs: they come before a verb or open a yes-or-no question.
    Auxiliary = "auxiliary",
    /// Function words and greetings: they say nothing about what a text is about.
    Stop = "stop",
    /// Short forms that an apostrophe joins to a word: "she's", "they'll".
    ShortForm = "short-form",
    // Names and speakers
    /// Small words that may be part of a name: "Lord of the Rings".
    InsideName = "inside-name",
    /// Words that follow a name at the start of a sentence but hardly another word.
    AfterName = "after-name",
    /// Titles with a full stop that belong to the name after them.
    Title = "title",
    /// Words before a name that address its bearer: "hey Ana".
    Call = "call",
    /// Words before a colon that look like a speaker and are not: "Note: ...".
    LineLabel = "line-label",
    /// First-person words of the writer of a line.
    WriterSelf = "writer-self",
    /// Words by which a caption names the picture instead of its content: "a photo of".
    Medium = "medium",
    /// Words that open a caption before it names anything.
    CaptionOpening = "caption-opening",
    /// Words before a full stop that do not end a sentence.
    Abbreviation = "abbreviation",
    /// Words before a full stop that end a sentence only if a capital follows.
    MaybeAbbreviation = "maybe-abbreviation",
    /// Names of assistants and agents that have no name of their own.
    AssistantName = "assistant-name",
    // Patterns, which are features of fitted weights: a change needs new weights
    /// Dates and other words that place an event in time.
    PatternDate = "pattern-date",
    /// Words for numbers.
    PatternNumber = "pattern-number",
    /// Words for amounts of money and shares.
    PatternMoney = "pattern-money",
    /// Words that introduce a reason.
    PatternReason = "pattern-reason",
    /// Words for plans and wishes.
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
    /// First person singular.
    FirstPerson = "first-person",
    /// First person plural.
    FirstPersonPlural = "first-person-plural",
    /// Second person.
    SecondPerson = "second-person",
    /// Phrases in which the speaker comments on the affairs of the other: "I hope you ...".
    Attitude = "attitude",
    /// Praise and comments on the words of the other.
    Evaluation = "evaluation",
    /// Small words before a sentence begins.
    Interjection = "interjection",
    /// Openings of a sentence that leaves out its subject "I".
    DroppedI = "dropped-i",
    /// Openings of advice and requests to the other.
    Advice = "advice",
    // What is wanted for good
    /// Small words before an order.
    WishOpening = "wish-opening",
    /// Words that make an order a standing one.
    ForGood = "for-good",
    /// Verbs for requests to an assistant: "when I ask ...".
    AskedOfAssistant = "asked-of-assistant",
    /// Verbs that ask for something to be made or proposed.
    Make = "make",
    /// Words of questions about the past.
    AsksPast = "asks-past",
    /// Words after "don't" and "call me" in an order for this one time: "don't worry", "call me back later".
    MildOrder = "mild-order",
    /// Words after "always" and "never" that order nothing: "always a pleasure", "never mind".
    NoOrder = "no-order",
    /// Words between two wishes.
    JoinsWishes = "joins-wishes",
    /// Verbs that ask for advice.
    AsksAdvice = "asks-advice",
    /// Words that open a question about possible or necessary actions.
    AsksHow = "asks-how",
    /// Auxiliaries of possible or necessary actions.
    MayDo = "may-do",
    /// Persons that a question for advice can be about.
    AnyPerson = "any-person",
    /// Auxiliaries that open a request.
    RequestVerb = "request-verb",
    /// Words that say no or never, or only.
    Restriction = "restriction",
    /// Words of diets, allergies and preferences.
    LastingTaste = "lasting-taste",
    /// Subjects of a liking or a habit.
    WhoseTaste = "whose-taste",
    /// Verbs and adverbs of likings and habits.
    Taste = "taste",
    /// Denials before a verb.
    Refusal = "refusal",
    /// Verbs that state a ban or a dislike after a denial.
    RefusedVerb = "refused-verb",
    /// Words that make a request a standing one.
    AsksForGood = "asks-for-good",
    /// Words for advice.
    Tip = "tip",
    // Questions
    /// Verbs of paying and earning, by stem.
    Paying = "paying",
    /// Sums of money that are asked for by their own name.
    Sum = "sum",
    /// Words for times and spans of time.
    UnitOfTime = "unit-of-time",
    /// Verbs of repeated actions with many objects: "What does she grow?".
    Several = "several",
    /// Verbs of paying that need no object to be about money, by stem.
    PlainlyPaying = "plainly-paying",
    /// Words that shape a question without being its matter.
    Frame = "frame",
    /// Verbs and nouns of saying and thinking, by stem.
    Speech = "speech",
    /// Words that make a question concern all persons that it names.
    AboutBoth = "about-both",
    /// Words that ask for several answers.
    AsksForSeveral = "asks-for-several",
    /// Articles and possessives before a noun.
    Article = "article",
    /// Verbs of beginnings, ends and deadlines, by stem.
    HappensOnce = "happens-once",
    /// Verbs of a question about the usual day of something.
    AsksRule = "asks-rule",
    /// Words that ask for an earlier state.
    AsksFormer = "asks-former",
    /// Words that ask for the present or final state.
    AsksLatest = "asks-latest",
    /// Auxiliaries of a question about the present.
    PresentAuxiliary = "present-auxiliary",
    /// Words that ask for a name.
    AsksName = "asks-name",
    /// Words that ask for a figure.
    AsksFigure = "asks-figure",
    /// Possessive pronouns before a noun.
    Possessive = "possessive",
    /// Prepositions at the end of a question about money, whose noun is the answer: "What did she pay for?".
    OpenPreposition = "open-preposition",
    /// Interrogatives: they open a question that yes or no does not answer.
    Interrogative = "interrogative",
    /// Prepositions that may end a question, or open one before "which".
    GapPreposition = "gap-preposition",
    /// Personal pronouns that are subjects.
    Pronoun = "pronoun",
    /// Interrogatives that may ask for the subject of the verb.
    AsksAgent = "asks-agent",
    /// Openings of questions and requests that need no question mark.
    OpensRequest = "opens-request",
    /// Words for places in questions.
    PlaceWord = "place-word",
    /// Verbs of requests to be told something.
    TellMe = "tell-me",
    /// Units of time after "what" and "which" in a question for a time.
    AskedTime = "asked-time",
    /// Words after "how" in a question for a number.
    HowMany = "how-many",
    /// Words after "what" in a question for a number.
    WhatNumber = "what-number",
    /// Places after "what" and "which" in a question for a place.
    AskedPlace = "asked-place",
    /// Words after "what" in a question for a reason.
    WhatReason = "what-reason",
    /// Words before a "when" that asks for a time.
    BeforeWhen = "before-when",
    /// Openings of questions that ask for a place only if they name one.
    AsksNoPlace = "asks-no-place",
    /// Openings of questions in which "when" only opens a clause.
    AsksNoTime = "asks-no-time",
    /// Adjectives after "how" that ask for a length.
    HowLong = "how-long",
    /// Places after "which" in a question for a home or an employer.
    HomePlace = "home-place",
    /// Words of a question for a home.
    Dwelling = "dwelling",
    /// Verbs that take a topic as their object: "mention the move".
    Telling = "telling",
    /// Words whose answer may be a time or a length of time.
    Timely = "timely",
    /// Words of questions about the future.
    AsksFuture = "asks-future",
    /// Forms of "do" in a question for what is done.
    FormOfDo = "form-of-do",
    // Other languages
    /// Words that lose their vowel before another word: "l'école", "d'où".
    Elided = "elided",
    /// Words of other languages that are also English words, names or abbreviations, and so are no evidence of a language.
    EnglishToo = "english-too",
    /// Participles among the glossed phrases, which take "has".
    GlossPast = "gloss-past",
    /// Auxiliaries among the glossed phrases that move before a name in a question.
    GlossAuxiliary = "gloss-auxiliary",
    /// Interrogatives after which the verb follows its subject in English.
    AsksOfSubject = "asks-of-subject",
    // Times
    /// Names of months cut short, which a full stop may follow.
    ShortMonth = "short-month",
    /// Nouns that a figure like 2000 counts, so that it is no year.
    CountedNoun = "counted-noun",
    /// Words beside a past weekday: "letzten Montag", "el lunes pasado".
    LastWeekday = "last-weekday",
    /// Words beside a coming weekday: "nächsten Montag", "lundi prochain".
    NextWeekday = "next-weekday",
    /// Words after which "Morgen" or "morgen" means the morning, not tomorrow.
    BeforeMorning = "before-morning",
    /// Words that identify German.
    German = "german",
    /// Words that identify Dutch.
    Dutch = "dutch",
    /// Words of repeated events.
    Habitual = "habitual",
    /// Verbs of getting something for later use: "got tickets for June".
    Gains = "gains",
    /// Things that people get for a later date: tickets, appointments.
    GainedThing = "gained-thing",
    /// Verbs of saying, settling and giving.
    Settles = "settles",
    /// Verbs of signing up for something.
    SignsUp = "signs-up",
    /// Verbs that move an event to another date.
    MovesDate = "moves-date",
    /// Events that people sign up for.
    Event = "event",
    /// Words before "starting" and "beginning" that lead to no day.
    BeforeStarting = "before-starting",
    /// Auxiliaries of questions, whose main verb follows the subject.
    AsksBeforeSubject = "asks-before-subject",
    /// Verbs that, in the present tense, state a coming event: "we leave on Monday".
    EventVerb = "event-verb",
    /// The third person of such verbs, and of verbs of beginning and ending: "it starts on Monday".
    EventVerbThird = "event-verb-third",
    /// Words after which such a verb lacks its subject: "and starts".
    NoSubject = "no-subject",
    /// Words of probability.
    Likely = "likely",
    /// Words that may stand before a day or month.
    LeadsToDay = "leads-to-day",
    /// Beginnings of words of planning, without their endings.
    PlanStem = "plan-stem",
    /// Endings of words of planning.
    PlanEnding = "plan-ending",
    /// Words that begin another clause, outside a plan.
    PartsPlans = "parts-plans",
    /// Verbs of the present tense in a clause after the past.
    TellsPresent = "tells-present",
    /// Words before a weekday that determine its date.
    PlacesWeekday = "places-weekday",
    /// Subjects of a clause.
    ClauseSubject = "clause-subject",
    /// Words that part clauses.
    PartsClauses = "parts-clauses",
    /// Participles that mean the past at the start of a clause: "Seen on Friday"; not those that are commands too: "Come on Friday".
    OpeningParticiple = "opening-participle",
    /// Words on "-ed" for states, or that are no past at all: "so excited for Saturday".
    StateOnEd = "state-on-ed",
    /// Subjects and auxiliaries: a sentence with one of them has its own tense.
    Acts = "acts",
    /// Irregular pasts.
    Preterite = "preterite",
    /// Words that end like a past but are none.
    NoPreterite = "no-preterite",
    /// Endings of participles behind a form of "have".
    ParticipleEnding = "participle-ending",
    /// Endings of the past only.
    PreteriteEnding = "preterite-ending",
    /// English for the auxiliaries before a participle in other languages.
    HelpsParticiple = "helps-participle",
    /// Words that place the days after them in the future.
    FutureCue = "future-cue",
    /// Words that place the days after them in the past.
    PastCue = "past-cue",
    /// Words before a participle that is no past: "is closed", "a baked potato".
    TiesParticiple = "ties-participle",
    /// Short forms of verbs that an apostrophe joins to their subject.
    ShortVerb = "short-verb",
    /// Words before a month, season or year.
    OpensDate = "opens-date",
    /// Words after "may" and "march" as verbs.
    NoMonth = "no-month",
    /// Parts of a month, season or year, before "of".
    PartOf = "part-of",
    /// Words before a day: "since May 7", "until the 5th".
    OpensDay = "opens-day",
    /// Articles before the day of a month.
    DateArticle = "date-article",
    /// Words before a season without a year.
    OpensSeason = "opens-season",
    /// Words before an abbreviated weekday.
    BesideWeekday = "beside-weekday",
    /// Words between an amount and its unit.
    AfterAmount = "after-amount",
    /// Words before a decade: "the 90s", "late 90s".
    BeforeDecade = "before-decade",
    /// Words before a year.
    OpensYear = "opens-year",
    /// Words before a feast of one word.
    OpensFeast = "opens-feast",
    /// Words that may follow "on the 5th"; another word would be the thing that is counted.
    AfterDay = "after-day",
    /// Nouns that mean a day: "his last day is the 31st".
    NamedDay = "named-day",
    /// Words that may follow a bare hour; another word would be the thing that is counted.
    AfterHour = "after-hour",
    /// Words between the ends of a stretch of time.
    RangeTo = "range-to",
    /// Words before a length of time.
    OpensLength = "opens-length",
    /// Inexact amounts.
    RoughAmount = "rough-amount",
    /// Words after "weekend" as an attribute: "the weekend trip".
    AfterWeekendNoun = "after-weekend-noun",
    /// Words after "spring" and "fall" as verbs.
    AfterSpringVerb = "after-spring-verb",
    /// Words before "the last month" that counts back from today.
    OpensRolling = "opens-rolling",
    /// Words between "in" and an amount: "in about two weeks".
    AboutAmount = "about-amount",
    /// Words after "back" that is not "ago": "two weeks back to work".
    AfterBack = "after-back",
    /// Words before a weekday without a date: "any Monday".
    AnyWeekday = "any-weekday",
    /// Words between a day and a time of the clock.
    BeforeClock = "before-clock",
    /// Words before a time of the clock that needs them.
    LeadsToClock = "leads-to-clock",
    /// Prepositions before a time of the clock in Dutch and German.
    WorldClockAt = "world-clock-at",
}
