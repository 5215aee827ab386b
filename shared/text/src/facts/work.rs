//! What somebody works as, for whom, and what they study.

use domain::fact::Aspect;
use domain::time::Precision;

use super::group::Shape;
use super::lexicon::{AFTER_JOB, FIELDS, FIRMS, JOBS, NO_JOB};
use super::preference::any_more;
use super::said::{Draft, Said};

/// Reads a job, an employer or a course of study.
pub(super) fn work(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let now = matches!(
        group.shape,
        Shape::Present | Shape::Progressive | Shape::Lasting | Shape::Perfect
    );
    let done = matches!(group.shape, Shape::Past | Shape::Perfect);
    match group.base.as_str() {
        "work" | "volunteer" => works(said, now),
        "be" => is_a(said),
        "study" | "train" if now || done => studies(said),
        "teach" if now => {
            let object = said.object(group.next).filter(|_| subject_matter(said, group.next))?;
            simple(said, Draft::new(Aspect::Work, "teaches", object).ended(group.ended))
        }
        "graduate" if done => {
            let from = said.at(group.next) == "from" || said.at(group.next) == "in";
            let object = said
                .object(group.next + 1)
                .filter(|_| from && said.capital(group.next + 1))?;
            simple(
                said,
                Draft::new(Aspect::Work, format!("graduated {}", said.at(group.next)), object).event(),
            )
        }
        "join" if done => {
            let named = said.capital(group.next) && !super::lexicon::NO_NAMES.contains(&said.at(group.next));
            let object = said.object(group.next).filter(|_| named)?;
            simple(said, Draft::new(Aspect::Work, "joined", object).event().sure(0.7))
        }
        "get" | "start" | "take" | "find" | "found" | "land" | "landed" if done => new_job(said),
        "quit" | "leave" | "lose" | "resign" | "retire" if done => left(said),
        "run" | "manage" | "lead" | "own" if now && group.shape != Shape::Perfect => runs(said),
        "become" if done => {
            let object = job(said, group.next)?;
            simple(said, Draft::new(Aspect::Work, "works as", object).event())
        }
        _ => None,
    }
}

fn simple(said: &Said<'_>, draft: Draft) -> Option<Draft> {
    said.group.positive.then_some(draft)
}

fn works(said: &Said<'_>, now: bool) -> Option<Draft> {
    let group = &said.group;
    let past = group.shape == Shape::Past;
    if !now && !past {
        return None;
    }
    let verb = if group.base == "work" { "works" } else { "volunteers" };
    let mut at = group.next;
    while matches!(
        said.at(at),
        "part-time"
            | "full-time"
            | "freelance"
            | "remotely"
            | "nights"
            | "mostly"
            | "here"
            | "there"
            | "part"
            | "full"
            | "time"
            | "now"
    ) {
        at += 1;
    }
    let preposition = said.at(at);
    let named = said.capital(at + 1);
    let whose = matches!(said.at(at + 1), "a" | "an" | "the" | "my" | "our" | "two");
    let (predicate, object) = match preposition {
        "as" => (format!("{verb} as"), job_or_role(said, at + 1)?),
        "at" | "for" if (named || whose) && !fleeting(said, at + 1) => (format!("{verb} at"), said.object(at + 1)?),
        "in" if (named || whose || FIELDS.contains(&said.at(at + 1))) && !fleeting(said, at + 1) => {
            (format!("{verb} in"), said.object(at + 1)?)
        }
        "from" if said.at(at + 1) == "home" => (format!("{verb} from"), "home".to_owned()),
        "with" if matches!(said.at(at + 1), "children" | "kids" | "animals" | "refugees") => {
            (format!("{verb} with"), said.object(at + 1)?)
        }
        _ => return None,
    };
    let over = past || group.ended || (!group.positive && any_more(said));
    if !group.positive && !over {
        return None;
    }
    let draft = Draft::new(Aspect::Work, predicate, object).ended(over);
    Some(if past { draft.event().sure(0.75) } else { draft })
}

/// "work on a report", "work at the moment", "work for me" are no employment.
fn fleeting(said: &Said<'_>, at: usize) -> bool {
    let nouns = [
        "moment", "weekend", "weekends", "morning", "evening", "time", "garden", "way", "while", "end", "same", "table",
    ];
    (at..said.end.min(at + 3)).any(|it| nouns.contains(&said.at(it)))
        || super::lexicon::NO_NAMES.contains(&said.at(at)) && said.at(at) != "the"
}

/// "I'm a nurse", "she's an illustrator from Porto".
fn is_a(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let past = match group.shape {
        Shape::Be | Shape::Been => false,
        Shape::Was => true,
        Shape::Present
        | Shape::Past
        | Shape::Perfect
        | Shape::Progressive
        | Shape::Lasting
        | Shape::Future
        | Shape::Going
        | Shape::Modal => return None,
    };
    let object = job(said, group.next)?;
    let over = past || group.ended || (!group.positive && any_more(said));
    if !group.positive && !over {
        return None;
    }
    let draft = Draft::new(Aspect::Work, "works as", object).ended(over);
    Some(if past {
        draft.event().sure(0.6)
    } else {
        draft.sure(0.85)
    })
}

/// Returns the job that begins at `from` with an article: at most three words before it.
fn job(said: &Said<'_>, from: usize) -> Option<String> {
    // Other languages say no article before a job.
    let bare = said.words.get(from).is_some_and(|it| it.foreign) && JOBS.contains(&said.at(from));
    if !bare && !matches!(said.at(from), "a" | "an" | "the") {
        return None;
    }
    let head = (from + usize::from(!bare)..said.end.min(from + 5)).find(|&it| JOBS.contains(&said.at(it)))?;
    // "I'm the drummer" is said of an evening, "the drummer of the fire brigade" is not.
    if said.at(from) == "the" && !matches!(said.at(head + 1), "at" | "of" | "for" | "in") {
        return None;
    }
    // "a student union", "a model railway": the job is only the first part of the noun.
    let more = said.words.get(head).is_some_and(|it| it.gap == super::token::Gap::None);
    let head = if more && JOBS.contains(&said.at(head + 1)) {
        head + 1
    } else {
        head
    };
    let more = more && said.words[head].gap == super::token::Gap::None;
    let next = said.at(head + 1);
    if more
        && !next.is_empty()
        && !AFTER_JOB.contains(&next)
        && !said
            .times()
            .any(|it| it.range.start == said.words[head + 1].range.start)
    {
        return None;
    }
    if (from + 1..head).any(|it| NO_JOB.contains(&said.at(it)) || said.at(it) == "of") {
        return None;
    }
    said.object(from)
}

/// After "works as": a job, with or without an article, or any role of a few words.
fn job_or_role(said: &Said<'_>, from: usize) -> Option<String> {
    // Other languages say no article before a job.
    let foreign = said.words.get(from).is_some_and(|it| it.foreign);
    let role = foreign || matches!(said.at(from), "a" | "an" | "the" | "head") || JOBS.contains(&said.at(from));
    role.then(|| said.object(from)).flatten()
}

fn studies(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if !group.positive {
        return None;
    }
    let (at, verb) = match (group.base.as_str(), said.at(group.next)) {
        ("study", "at" | "in") => (group.next + 1, "studies at"),
        ("study", "to") if said.at(group.next + 1) == "be" => (group.next + 2, "studies to be"),
        ("study", "to") => return None,
        ("study", _) => (group.next, "studies"),
        (_, "as") => (group.next + 1, "trains as"),
        (_, "to") if said.at(group.next + 1) == "be" => (group.next + 2, "trains as"),
        _ => return None,
    };
    if !subject_matter(said, at) {
        return None;
    }
    let past = matches!(group.shape, Shape::Past | Shape::Perfect);
    let draft = Draft::new(Aspect::Work, verb, said.object(at)?).ended(past || group.ended);
    Some(if past { draft.event().sure(0.8) } else { draft })
}

/// Says whether what is studied or taught is named, and not pointed at.
fn subject_matter(said: &Said<'_>, at: usize) -> bool {
    let word = said.at(at);
    !matches!(
        word,
        "" | "it"
            | "this"
            | "that"
            | "the"
            | "them"
            | "him"
            | "her"
            | "me"
            | "you"
            | "for"
            | "hard"
            | "us"
            | "with"
            | "on"
            | "all"
            | "more"
            | "how"
            | "what"
            | "and"
            | "these"
            | "those"
            | "myself"
            | "tomorrow"
            | "today"
            | "by"
    ) && !said.times().any(|it| it.range.start == said.words[at].range.start)
}

/// "I got a job at Orbit", "she started a new job as a baker", "I started at Orbit".
fn new_job(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let rest = said.rest();
    if !group.positive {
        return None;
    }
    let skip = match rest.as_slice() {
        [
            "a" | "my" | "the",
            "new" | "first" | "part-time" | "summer" | "teaching",
            "job" | "position" | "role" | "post",
            ..,
        ] => 3,
        [
            "a" | "my" | "the",
            "job" | "position" | "role" | "post",
            "there" | "here",
            ..,
        ] => 3,
        ["a" | "my" | "the", "job" | "position" | "role" | "post", ..] => 2,
        ["hired" | "promoted", ..] | ["working", ..] => 1,
        _ if group.base == "start" => 0,
        _ => return None,
    };
    let at = group.next + skip;
    let at = at + usize::from(matches!(said.at(at), "too" | "recently"));
    // "Started at the office at nine" is told of a day.
    let firm = |it: usize| FIRMS.contains(&said.at(it)) && said.at(it + 1) != "at";
    let firm = || (at + 2..said.end.min(at + 5)).any(firm);
    let (predicate, object) = match said.at(at) {
        "at" | "with" | "for"
            if said.capital(at + 1) || matches!(said.at(at + 1), "a" | "an" | "the") && (skip > 0 || firm()) =>
        {
            let named = !super::lexicon::NO_NAMES.contains(&said.at(at + 1));
            ("works at", said.object(at + 1).filter(|_| named)?)
        }
        "as" => ("works as", job_or_role(said, at + 1)?),
        "to" if rest[0] == "promoted" => ("works as", said.object(at + 1)?),
        _ => return None,
    };
    Some(Draft::new(Aspect::Work, predicate, object).event())
}

/// "I start at a bookshop in June", "she starts as a nurse on 1 May": what they work as from then on.
pub(super) fn starts_on(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let set = matches!(group.shape, Shape::Present | Shape::Progressive) && group.positive && group.often.is_none();
    let exact = |it: &crate::time::Mention| {
        it.span.start > said.now && matches!(it.span.precision, Precision::Day | Precision::Month)
    };
    if group.base != "start" || !set || !said.times().any(exact) || said.has(&["if", "probably", "hopefully", "every"])
    {
        return None;
    }
    let at = group.next;
    let firm = || (at + 1..said.end.min(at + 5)).any(|it| FIRMS.contains(&said.at(it)));
    let named = said.capital(at + 1) && !super::lexicon::NO_NAMES.contains(&said.at(at + 1));
    let (predicate, object) = match said.at(at) {
        "at" if named || matches!(said.at(at + 1), "a" | "an" | "the") && firm() => ("works at", said.object(at + 1)?),
        "as" => ("works as", job_or_role(said, at + 1)?),
        _ => return None,
    };
    Some(Draft::new(Aspect::Work, predicate, object).event().sure(0.75))
}

/// "I quit my job at Orbit", "she left Orbit", "he retired".
fn left(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let rest = said.rest();
    if !group.positive {
        return None;
    }
    if group.base == "retire" {
        return Some(Draft::new(Aspect::Attribute, "is", "retired").event());
    }
    // "Left the bakery in June": of an evening one names no month.
    let month = |it: &crate::time::Mention| {
        matches!(
            it.span.precision,
            Precision::Month | Precision::Year | Precision::Season
        )
    };
    let firm = (group.next + 1..said.end.min(group.next + 4)).any(|it| FIRMS.contains(&said.at(it)));
    if group.base == "leave" && rest.first() == Some(&"the") && firm && said.times().any(month) {
        let object = said.object(group.next)?;
        return Some(Draft::new(Aspect::Work, "works at", object).event().ended(true));
    }
    let skip = match rest.as_slice() {
        [
            "my" | "the" | "his" | "her" | "their",
            "job" | "position" | "role" | "post",
            "at" | "with",
            ..,
        ] => 3,
        ["my" | "his" | "her" | "their", "old" | "day" | "office", "job", ..]
        | ["my" | "his" | "her" | "their", "job" | "position" | "post", ..] => {
            return Some(Draft::new(Aspect::Work, "has", "job").event().ended(true));
        }
        ["from", ..] if group.base == "resign" => 1,
        [] if group.base == "resign" => return Some(Draft::new(Aspect::Work, "has", "job").event().ended(true)),
        ["smoking" | "drinking", ..] if group.base == "quit" => {
            let predicate = if rest[0] == "smoking" { "smokes" } else { "drinks" };
            let object = if rest[0] == "smoking" { "tobacco" } else { "alcohol" };
            return Some(Draft::new(Aspect::Habit, predicate, object).event().ended(true));
        }
        _ => return None,
    };
    let object = said.object(group.next + skip)?;
    Some(Draft::new(Aspect::Work, "works at", object).event().ended(true))
}

/// "I run a bakery", "she manages a team of five".
fn runs(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let whose = matches!(said.at(group.next), "a" | "an" | "the" | "my" | "our");
    let head = (group.next..said.end.min(group.next + 6)).any(|it| FIRMS.contains(&said.at(it)));
    let object = said.object(group.next).filter(|_| whose && head)?;
    simple(
        said,
        Draft::new(Aspect::Work, super::verb::third(&group.base), object).ended(group.ended),
    )
}
