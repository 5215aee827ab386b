//! What looks ahead whatever the tense of the verbs around it: what was booked, put off or begins on a day.

use super::lexicon::Class;
use super::tense::{among, is_be, opens_clause};
use super::token::{Tense, Token};

/// What was done about something that lies ahead, and so which words lead to its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Plan {
    #[default]
    None,
    /// "booked the ferry for June".
    Booked,
    /// "invited to a wedding in June".
    Invited,
    /// "signed up for the run in June".
    Joined,
    /// "moved to Friday".
    Moved,
}

/// What the sentence has said so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    plan: Plan,
    /// It was said for what somebody signed up.
    joined: bool,
    /// The last verb of the clause is in the past.
    past: bool,
    /// It says that somebody got hold of something.
    gained: bool,
    /// Its last verb says what is so.
    is: bool,
    /// What it tells happens again and again.
    habit: bool,
}

impl Ahead {
    /// Begins with the sentence of token `i`.
    pub(super) fn begin(tokens: &[Token<'_>], i: usize) -> Ahead {
        let mut sentence = tokens[i..].iter().take_while(|it| it.sentence == tokens[i].sentence);
        let often = |it: &Token<'_>| among(&it.lower, HABITS) || matches!(it.class, Class::Weekdays(_));
        Ahead {
            habit: sentence.any(often),
            ..Ahead::default()
        }
    }

    /// Reads token `i`, whose own tense is `cue`, and says whether what follows it lies ahead.
    pub(super) fn read(&mut self, tokens: &[Token<'_>], i: usize, cue: Tense, english: bool) -> bool {
        let word = &*tokens[i].lower;
        let next = tokens.get(i + 1).map_or("", |it| &*it.lower);
        if parts(word) || cue != Tense::Open {
            self.plan = Plan::None;
            self.joined = false;
            self.past = cue == Tense::Past;
            self.gained = self.past && among(word, GAINS);
            self.is = false;
        }
        self.is |= is_be(word) || matches!(word, "'s" | "’s");
        self.plan = opened(word, next, english).unwrap_or(self.plan);
        self.leads(tokens, i) || english && (self.gained && among(word, GAINED) || self.comes(tokens, i))
    }

    fn leads(&mut self, tokens: &[Token<'_>], i: usize) -> bool {
        let word = &*tokens[i].lower;
        let to_time = || among(word, "to for until till") && is_time(tokens, i + 1);
        match self.plan {
            // "is closed until May".
            Plan::None => self.is && among(word, "until till") && is_time(tokens, i + 1),
            Plan::Booked => among(word, "for until till") || to_time(),
            Plan::Invited => among(word, "to for"),
            Plan::Moved => to_time(),
            Plan::Joined => {
                self.joined |= word == "for";
                self.joined && (among(word, EVENTS) || among(word.strip_suffix('s').unwrap_or(word), EVENTS))
            }
        }
    }

    /// "we get the keys on Monday", "the course starts in March", "we're flying on Friday", "starting 1 April", "due in May".
    fn comes(&self, tokens: &[Token<'_>], i: usize) -> bool {
        let lower = |back: usize| i.checked_sub(back).map_or("", |it| &*tokens[it].lower);
        let (word, last) = (&*tokens[i].lower, lower(1));
        let next = tokens.get(i + 1).map_or("", |it| &*it.lower);
        match word {
            "due" => return next != "to" && !matches!(last, "was" | "were"),
            // "Got the job! Start on the 19th": what opens a clause in the present is not over.
            "start" | "starts" | "begin" | "begins" if opens_clause(tokens, i) => return is_time(tokens, i + 1),
            "starting" | "beginning" => return is_time(tokens, i + 1) && !among(last, BEFORE_STARTING),
            _ => {}
        }
        if self.habit {
            return false;
        }
        let asked = among(lower(2), ASKERS);
        let progressive = || {
            let of_person = matches!(last, "'s" | "’s") && among(lower(2), "he she it who");
            let verb = word.len() > 4 && word.ends_with("ing") && tokens[i].class == Class::Other;
            verb && (is_be(last) || of_person)
        };
        let subject = || {
            let stands = last.starts_with(char::is_alphabetic) && !among(last, NO_SUBJECTS);
            stands || is_time(tokens, i + 1)
        };
        let owned = || word != "have" || among(next, "a an my our the another");
        match last {
            "i" | "we" | "you" | "they" => !asked && among(word, EVENT_VERBS) && owned(),
            "he" | "she" | "it" => !asked && among(word, COMING),
            _ => progressive() || !self.past && among(word, COMING) && subject(),
        }
    }
}

/// Says whether a sentence without any tense speaks of what is to come: "Tickets for the opera in March"; without anybody who
/// does something, "The night ward, from October"; and if it stands `alone`, "Probably September".
pub(super) fn hints(sentence: &[Token<'_>], verbless: bool, alone: bool) -> bool {
    let has = |list: &str| sentence.iter().any(|it| among(&it.lower, list));
    let begins = |i: usize| {
        let opens = i == 0 || sentence[i - 1].lower == ",";
        opens && sentence[i].lower == "from" && is_time(sentence, i + 1)
    };
    let begins = || !has("to until till") && (0..sentence.len()).any(begins);
    has(GAINED) || verbless && begins() || alone && has(LIKELY)
}

/// Returns true if a past verb can speak of a day to come: what was said, settled or given may lie ahead.
pub(super) fn leads_ahead(word: &str) -> bool {
    among(word, SETTLES) || among(word, GAINS) || plans(word)
}

fn opened(word: &str, next: &str, english: bool) -> Option<Plan> {
    if plans(word) {
        return Some(Plan::Booked);
    }
    let joined = among(word, JOINS) || next == "up" && among(word, "sign signed signing");
    let put = next == "off" && among(word, "put puts putting");
    let brought = next == "forward" && among(word, "brought bring bringing");
    let moved = put || brought || among(word, MOVES);
    if !english {
        None
    } else if among(word, "invited invite invites invitation") {
        Some(Plan::Invited)
    } else if joined {
        Some(Plan::Joined)
    } else {
        moved.then_some(Plan::Moved)
    }
}

/// What is planned, whenever that was done, lies ahead: "booked the ferry for June".
fn plans(word: &str) -> bool {
    let verbs = [
        "book",
        "reserv",
        "schedul",
        "reschedul",
        "arrang",
        "postpon",
        "plan",
        "pencil",
        "appoint",
    ];
    let ends = [
        "", "e", "ed", "es", "s", "ing", "ned", "nned", "ning", "led", "ment", "ments",
    ];
    verbs
        .iter()
        .any(|it| word.strip_prefix(it).is_some_and(|end| ends.contains(&end)))
}

/// Where another clause begins, in which nothing is planned.
fn parts(word: &str) -> bool {
    matches!(
        word,
        "," | ";" | ":" | "and" | "but" | "so" | "because" | "while" | "after" | "before" | "when"
    )
}

/// Says whether a day or month is named at token `i`.
fn is_time(tokens: &[Token<'_>], i: usize) -> bool {
    let class = |i: usize| tokens.get(i).map_or(Class::Other, |it| it.class);
    // "On the 19th" has two words before it.
    let before = tokens.iter().skip(i).take(2);
    let i = i + before
        .take_while(|it| among(&it.lower, "on in from the next this"))
        .count();
    let figure = matches!(class(i), Class::Digits(1..=31, 1..=2)) && matches!(class(i + 1), Class::Month(..));
    figure
        || matches!(
            class(i),
            Class::Weekday(..) | Class::Month(..) | Class::Ordinal(_) | Class::Relative(_) | Class::Season(..)
        )
}

/// Words of what happens again and again.
const HABITS: &str = "every each usually always often sometimes never normally generally rarely typically";
/// Verbs by which somebody comes to have what is used later.
const GAINS: &str =
    "got bought booked scored made received reserved grabbed snagged ordered landed secured arranged won found";
/// What one has before its time comes.
const GAINED: &str = "ticket tickets tix appointment appointments reservation invitation slot";
/// Verbs of saying, settling and giving.
const SETTLES: &str = "told said heard learned learnt read announced confirmed agreed decided chose picked settled gave given promised \
    wrote asked wanted needed thought hoped noted reminded remembered forgot invited registered signed enrolled expected offered extended pushed \
    shifted delayed deferred set fixed";
const JOINS: &str = "registered register registering enrolled enrol enroll enrolling";
const MOVES: &str = "moved extended pushed shifted delayed deferred changed switched set fixed";
/// What somebody signs up for, once.
const EVENTS: &str = "marathon race run walk swim ride tour trip hike tournament cup match concert gig festival exam test course class classes \
    workshop seminar webinar conference camp retreat lesson fair show competition contest hackathon triathlon";
const BEFORE_STARTING: &str = "was were be been of after before since by about when while";
/// Words that ask with the verb behind the subject.
const ASKERS: &str = "did had do does could would should can was were";
/// What one does on a day, in the present.
const EVENT_VERBS: &str = "get move leave fly start begin meet have go come return arrive open close finish collect depart travel \
    drive sign graduate marry perform present head sail";
/// The same of a third one, or what begins and ends by itself.
const COMING: &str = "expires starts begins opens closes ends finishes arrives leaves departs returns lands premieres launches \
    resumes comes visits flies";
/// Before these words a verb would have its subject, and has none.
const NO_SUBJECTS: &str =
    "the a an in of with these those my our your his her their and or for to on at dead loose no any";
const LIKELY: &str = "probably maybe perhaps likely hopefully possibly";
