//! What people are to each other, and the animals and things that they name. English.

/// What somebody is to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kin {
    /// The word for it, the same for "mum" and "mother".
    pub word: &'static str,
    /// A person rather than an animal or a thing.
    pub person: bool,
    /// People mostly have one of it, or say which one they mean.
    pub single: bool,
}

const ONE: [(&str, &str); 40] = [
    ("mother", "mom mum mommy mummy mama mother ma mam mumma"),
    ("father", "dad daddy papa father"),
    ("sister", "sister sis"),
    ("brother", "brother bro"),
    ("wife", "wife"),
    ("husband", "husband hubby"),
    ("partner", "partner"),
    ("girlfriend", "girlfriend"),
    ("boyfriend", "boyfriend"),
    ("fianc\u{e9}", "fianc\u{e9} fianc\u{e9}e fiance fiancee"),
    ("son", "son"),
    ("daughter", "daughter"),
    ("child", "kid child"),
    ("baby", "baby"),
    ("grandmother", "grandma granny nana nan grandmother gran"),
    ("grandfather", "grandpa granddad grandad grandfather"),
    ("granddaughter", "granddaughter"),
    ("grandson", "grandson"),
    ("aunt", "aunt auntie aunty"),
    ("uncle", "uncle"),
    ("cousin", "cousin"),
    ("niece", "niece"),
    ("nephew", "nephew"),
    ("godmother", "godmother"),
    ("godfather", "godfather"),
    ("boss", "boss"),
    ("manager", "manager"),
    ("teacher", "teacher"),
    ("coach", "coach trainer"),
    ("roommate", "roommate flatmate housemate"),
    ("doctor", "doctor"),
    ("dentist", "dentist"),
    ("therapist", "therapist"),
    ("landlord", "landlord landlady"),
    ("mentor", "mentor"),
    ("tutor", "tutor"),
    ("supervisor", "supervisor"),
    ("assistant", "assistant"),
    ("nanny", "nanny babysitter"),
    ("neighbour", "neighbour neighbor"),
];
const MANY: [(&str, &str); 6] = [
    ("friend", "friend buddy pal mate bestie"),
    ("colleague", "colleague coworker co-worker workmate"),
    ("client", "client customer"),
    ("student", "student pupil"),
    ("classmate", "classmate"),
    ("teammate", "teammate"),
];
const NO_PERSON: [(&str, &str); 9] = [
    ("dog", "dog puppy pup"),
    ("cat", "cat kitten"),
    ("horse", "horse pony"),
    ("parrot", "parrot"),
    ("rabbit", "rabbit bunny"),
    ("hamster", "hamster"),
    ("tortoise", "tortoise"),
    ("boat", "boat"),
    ("car", "car van"),
];
/// Words between the owner and the word for kin, with what they add.
const MODIFIERS: [(&str, &str); 33] = [
    ("older", "older"),
    ("elder", "older"),
    ("eldest", "older"),
    ("oldest", "older"),
    ("big", "older"),
    ("younger", "younger"),
    ("youngest", "younger"),
    ("little", "younger"),
    ("kid", "younger"),
    ("baby", "younger"),
    ("twin", "twin"),
    ("half", "half"),
    ("step", "step"),
    ("ex", "former"),
    ("former", "former"),
    ("best", "best"),
    ("late", ""),
    ("dear", ""),
    ("good", ""),
    ("old", ""),
    ("new", ""),
    ("own", ""),
    ("lovely", ""),
    ("sweet", ""),
    ("amazing", ""),
    ("wonderful", ""),
    ("beloved", ""),
    ("close", ""),
    ("poor", ""),
    ("favorite", ""),
    ("favourite", ""),
    ("current", ""),
    ("pet", ""),
];

/// Returns what a word in lower case says of somebody; none if it is no word for that.
pub fn of(word: &str) -> Option<Kin> {
    let tables = [
        (&ONE[..], true, true),
        (&MANY[..], true, false),
        (&NO_PERSON[..], false, true),
    ];
    tables.iter().find_map(|(table, person, single)| {
        let found = table.iter().find(|(_, forms)| forms.split(' ').any(|it| it == word));
        found.map(|(word, _)| Kin {
            word,
            person: *person,
            single: *single,
        })
    })
}

/// Returns what a word before a word for kin adds; none if it does not belong there.
pub fn modifier(word: &str) -> Option<&'static str> {
    MODIFIERS.iter().find(|it| it.0 == word).map(|it| it.1)
}
