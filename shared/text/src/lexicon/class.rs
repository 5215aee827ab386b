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
    // Questions
    /// Verbs of paying and earning, by stem.
    Paying = "paying",
    /// Sums of money that are asked for by their own name.
    Sum = "sum",
    /// Words for times and spans of time.
    UnitOfTime = "unit-of-time",
    /// Verbs of what is done again and again, with many things.
    Several = "several",
    /// Verbs of paying that need no object to be about money, by stem.
    PlainlyPaying = "plainly-paying",
    /// Words that shape a question without being its matter.
    Frame = "frame",
    /// Verbs and nouns of what somebody says or thinks, by stem.
    Speech = "speech",
    /// Words by which a question is about all whom it names.
    AboutBoth = "about-both",
    /// Words by which a question asks for several things.
    AsksForSeveral = "asks-for-several",
    /// Articles and possessives of a thing that is named.
    Article = "article",
    /// Verbs of what begins, ends or is due once, by stem.
    HappensOnce = "happens-once",
    /// Verbs with which somebody asks on which day something is again and again.
    AsksRule = "asks-rule",
    /// Words by which a question asks for what was so first.
    AsksFormer = "asks-former",
    /// Words by which a question asks for what is so now, or was in the end.
    AsksLatest = "asks-latest",
    /// Auxiliaries of a question for what is so.
    PresentAuxiliary = "present-auxiliary",
    /// Words by which a question asks for a name.
    AsksName = "asks-name",
    /// Words by which a question asks for a figure.
    AsksFigure = "asks-figure",
    /// Possessive pronouns before a noun.
    Possessive = "possessive",
    /// Prepositions at the end of a question, which leave their noun to the answer.
    OpenPreposition = "open-preposition",
    /// What opens an open question, one that does not ask whether.
    Interrogative = "interrogative",
    /// Prepositions that a question may end with, or open with before "which".
    GapPreposition = "gap-preposition",
    /// Personal pronouns that are subjects.
    Pronoun = "pronoun",
    /// Words that ask for whoever or whatever does something.
    AsksAgent = "asks-agent",
    /// Openings of questions and requests that need no question mark.
    OpensRequest = "opens-request",
    /// Words for places that a question names.
    PlaceWord = "place-word",
    /// Verbs by which somebody asks to be told something.
    TellMe = "tell-me",
    /// Units of time after "what" and "which" in a question for a time.
    AskedTime = "asked-time",
    /// What follows "how" in a question for a number.
    HowMany = "how-many",
    /// What follows "what" in a question for a number.
    WhatNumber = "what-number",
    /// Places after "what" and "which" in a question for a place.
    AskedPlace = "asked-place",
    /// What follows "what" in a question for a reason.
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
    /// Words by which a question asks for a home.
    Dwelling = "dwelling",
    /// Verbs whose object is what is spoken of.
    Telling = "telling",
    /// Words whose answer may be a time or a length of time.
    Timely = "timely",
    /// Words by which a question asks what will be.
    AsksFuture = "asks-future",
    /// Forms of "do" in a question for what is done.
    FormOfDo = "form-of-do",
    // Other languages
    /// What a vowel parts from the word after it: "l'école", "d'où".
    Elided = "elided",
    /// Words of the phrases of other languages that are English words, names or abbreviations as well, so that they tell no language.
    EnglishToo = "english-too",
    /// Pasts among the phrases of other languages: what stands behind "has".
    GlossPast = "gloss-past",
    /// Auxiliaries among the phrases of other languages that go before a name in a question.
    GlossAuxiliary = "gloss-auxiliary",
    /// What asks for anything but the subject, so that the verb goes behind it.
    AsksOfSubject = "asks-of-subject",
    // Times
    /// Names of months cut short, which a full stop may follow.
    ShortMonth = "short-month",
    /// Nouns that a figure like 2000 counts.
    CountedNoun = "counted-noun",
    /// "Letzten Montag", "el lunes pasado": a weekday that is over.
    LastWeekday = "last-weekday",
    /// "Nächsten Montag", "lundi prochain": a weekday to come.
    NextWeekday = "next-weekday",
    /// Words after which "Morgen", "morgen" is the morning and not tomorrow.
    BeforeMorning = "before-morning",
    /// Words of German by which a text is told to be in it.
    German = "german",
    /// Words of Dutch by which a text is told to be in it.
    Dutch = "dutch",
    /// Words of what happens again and again.
    Habitual = "habitual",
    /// Verbs by which somebody comes to have what is used later.
    Gains = "gains",
    /// What one has before its time comes.
    GainedThing = "gained-thing",
    /// Verbs of saying, settling and giving.
    Settles = "settles",
    /// Verbs of signing up for something.
    SignsUp = "signs-up",
    /// Verbs of putting something off to another day.
    MovesDate = "moves-date",
    /// What somebody signs up for, once.
    Event = "event",
    /// Words before "starting" and "beginning" that lead to no day.
    BeforeStarting = "before-starting",
    /// Words that ask with the verb behind the subject.
    AsksBeforeSubject = "asks-before-subject",
    /// What one does on a day, in the present.
    EventVerb = "event-verb",
    /// The same of a third one, or what begins and ends by itself.
    EventVerbThird = "event-verb-third",
    /// Before these words a verb would have its subject, and has none.
    NoSubject = "no-subject",
    /// Words of what may come.
    Likely = "likely",
    /// Words that may stand before a day or month.
    LeadsToDay = "leads-to-day",
    /// Beginnings of verbs and nouns of planning, before their endings.
    PlanStem = "plan-stem",
    /// Endings of words of planning behind their beginning.
    PlanEnding = "plan-ending",
    /// Words behind which another clause begins, in which nothing is planned.
    PartsPlans = "parts-plans",
    /// Verbs that tell of what is so now, or may be.
    TellsPresent = "tells-present",
    /// What stands before a weekday that is placed by it.
    PlacesWeekday = "places-weekday",
    /// Who may have done something.
    ClauseSubject = "clause-subject",
    /// Words that part clauses.
    PartsClauses = "parts-clauses",
    /// Participles that tell of the past without an auxiliary before them, where a clause begins: "Seen on Friday", "Quit on Monday". Those that are also a command ("Come on Friday", "Put it down") are left out.
    OpeningParticiple = "opening-participle",
    /// Words on "-ed" that tell how somebody is, or no past at all: "so excited for Saturday".
    StateOnEd = "state-on-ed",
    /// Who does something, and what does not say when.
    Acts = "acts",
    /// Irregular pasts that are no other word of their language.
    Preterite = "preterite",
    /// Words that end like a past and are none.
    NoPreterite = "no-preterite",
    /// Endings of participles behind a form of "have".
    ParticipleEnding = "participle-ending",
    /// Endings that only the past has.
    PreteriteEnding = "preterite-ending",
    /// What stands before a participle of the past in other languages, in English.
    HelpsParticiple = "helps-participle",
    /// Words behind which a day lies ahead.
    FutureCue = "future-cue",
    /// Words behind which a day is over.
    PastCue = "past-cue",
    /// Words before a participle that is no past: "is closed", "a baked potato".
    TiesParticiple = "ties-participle",
    /// What an apostrophe joins to its subject and may say no tense.
    ShortVerb = "short-verb",
    /// Words that make a month, season or year of the word behind them.
    OpensDate = "opens-date",
    /// What follows "may" and "march" where they are verbs.
    NoMonth = "no-month",
    /// Parts of a month, season or year, before "of".
    PartOf = "part-of",
    /// Words before a day: "since May 7", "until the 5th".
    OpensDay = "opens-day",
    /// Articles before the day of a month.
    DateArticle = "date-article",
    /// Words before a season without a year.
    OpensSeason = "opens-season",
    /// Words before a weekday that is cut short.
    BesideWeekday = "beside-weekday",
    /// Words between an amount and its unit.
    AfterAmount = "after-amount",
    /// Words before a decade: "the 90s", "late 90s".
    BeforeDecade = "before-decade",
    /// Words that make a year of the figure behind them.
    OpensYear = "opens-year",
    /// Words before a feast of one word.
    OpensFeast = "opens-feast",
    /// Words that may follow "on the 5th" without being what is counted.
    AfterDay = "after-day",
    /// What is a day itself: "his last day is the 31st".
    NamedDay = "named-day",
    /// Words that may follow a bare hour without being what is counted.
    AfterHour = "after-hour",
    /// Words between the ends of a stretch of time.
    RangeTo = "range-to",
    /// Words before a length of time.
    OpensLength = "opens-length",
    /// Amounts that nobody counted.
    RoughAmount = "rough-amount",
    /// What follows "weekend" where it is no time: "the weekend trip".
    AfterWeekendNoun = "after-weekend-noun",
    /// What follows "spring" and "fall" where they are no seasons.
    AfterSpringVerb = "after-spring-verb",
    /// Words before "the last month" where it counts back from today.
    OpensRolling = "opens-rolling",
    /// Words between "in" and an amount: "in about two weeks".
    AboutAmount = "about-amount",
    /// What follows "back" where it counts no time: "two weeks back to work".
    AfterBack = "after-back",
    /// Words before a weekday that is no certain one.
    AnyWeekday = "any-weekday",
    /// Words between a day and a time of the clock.
    BeforeClock = "before-clock",
    /// Words before a time of the clock that may be something else.
    LeadsToClock = "leads-to-clock",
    /// Words that lead to a time of the clock: "om", "um" is "at".
    WorldClockAt = "world-clock-at",
}
