//! What somebody has, and how many.

mod words;

use domain::fact::Aspect;

use super::group::Shape;
use super::lexicon::{CONSUMED, ILLS, KIN, NUMBERS, PETS, THINGS, is_number};
use super::preference::any_more;
use super::said::{Draft, Said};
use words::{CLOSERS, ILL_ENDINGS, MADE, PASSING};

/// Reads a possession, a number of people or animals, or an illness.
pub(super) fn own(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let done = matches!(group.shape, Shape::Past | Shape::Perfect);
    match group.base.as_str() {
        "have" | "own" | "keep" if group.shape == Shape::Present => has(said, group.next),
        "have" | "own" if group.shape == Shape::Past && !group.positive => None,
        // "I've got two cats".
        "get" if group.shape == Shape::Perfect && !matches!(said.at(group.next), "a" | "an") => has(said, group.next),
        "get" if done => got(said),
        "buy" | "adopt" | "inherit" | "order" | "rent" | "build" if done => bought(said),
        "sell" | "lose" | "give" | "break" if done => gone(said),
        _ => None,
    }
}

/// "have two cats", "own a boat", "have asthma", "have a dog called Rex".
fn has(said: &Said<'_>, from: usize) -> Option<Draft> {
    let group = &said.group;
    let over = group.ended || (!group.positive && any_more(said));
    let first = said.at(from);
    if ILLS.contains(&first)
        || ILL_ENDINGS.iter().any(|it| first.ends_with(it))
        || (first == "a" && said.at(from + 2) == "allergy")
        || (first == "an" && said.at(from + 1) == "allergy")
    {
        let object = said.object(from)?;
        return group
            .positive
            .then(|| Draft::new(Aspect::Attribute, "has", object).ended(group.ended));
    }
    let head = head(said, from).or_else(|| made(said, from))?;
    let noun = said.at(head);
    let (kin, pet) = (KIN.contains(&noun), PETS.contains(&noun));
    let thing = THINGS.contains(&noun) || !kin && !pet;
    let counted = is_number(first) || matches!(first, "no" | "both");
    let single = matches!(first, "a" | "an" | "my" | "our" | "one");
    let many = super::lexicon::MANY.contains(&first) && kin;
    if !(counted
        || single
        || many
        || (!group.positive && (kin || pet || thing || first == "any"))
        || group.base == "own")
        || !(kin || pet || thing || group.base == "own")
    {
        return None;
    }
    if said.has(&["you"]) {
        return None;
    }
    // "have a friend who", "have friends over", "have the kids this weekend".
    let fleeting = said.times().count() > 0 && !over
        || said.has(&["over", "visiting", "staying", "coming", "friend", "friends", "mate"]);
    if fleeting && (kin || counted) && !pet {
        return None;
    }
    let positive = group.positive && first != "no";
    let object = said.object(if matches!(first, "no" | "any") { from + 1 } else { from })?;
    // "a slow cooker and no oven", "a room, 95 a night".
    let object = object
        .split_once(" and no ")
        .map_or(object.as_str(), |it| it.0)
        .to_owned();
    if thing && !THINGS.contains(&noun) && object.chars().any(|it| it.is_ascii_digit()) {
        return None;
    }
    let predicate = if positive || over { "has" } else { "does not have" };
    let aspect = match () {
        () if is_number(first) => Aspect::Count,
        () if kin => Aspect::Relation,
        () => Aspect::Possession,
    };
    let predicate = if aspect == Aspect::Possession && (positive || over) {
        "owns"
    } else {
        predicate
    };
    Some(Draft {
        positive: positive || over,
        ..Draft::new(aspect, predicate, object).ended(over).sure(0.85)
    })
}

/// Returns the index of the noun of "a slow cooker", "a guest room": something made that is not of the lists.
fn made(said: &Said<'_>, from: usize) -> Option<usize> {
    let closed = |it: &usize| {
        let next = said.at(it + 1);
        let goes_on = !matches!(
            next,
            "" | "and" | "in" | "at" | "with" | "but" | "now" | "behind" | "from"
        );
        said.words[*it].gap != super::token::Gap::None || !goes_on
    };
    let last = (from + 1..said.end.min(from + 4)).find(closed)?;
    let article = matches!(said.at(from), "a" | "an" | "no") || !said.group.positive;
    // "Nantes has a vet school" says nothing of somebody.
    if matches!(said.who.subject, super::Subject::Name(_)) {
        return None;
    }
    let nouns = crate::Nouns::builtin();
    let is = |kind: &&str| {
        let kind = nouns.kind(kind);
        kind.is_some_and(|it| nouns.has(&it, &[said.at(last).to_owned()]))
    };
    let lasting = MADE.iter().any(is);
    let spare = said.at(last) == "room" && matches!(said.at(last - 1), "guest" | "spare" | "dining" | "utility");
    let plain =
        (spare || !PASSING.contains(&said.at(last))) && !crate::is_stop(said.at(last)) && !said.words[last].foreign;
    let clause = said.times().count() == 0 && !said.has(&["you", "your", "that", "this", "it"]);
    (article && plain && clause && lasting).then_some(last)
}

/// Returns the index of the first noun of the lists in the phrase at `from`.
fn head(said: &Said<'_>, from: usize) -> Option<usize> {
    let known =
        |it: &usize| KIN.contains(&said.at(*it)) || PETS.contains(&said.at(*it)) || THINGS.contains(&said.at(*it));
    let mut last = None;
    for i in from..said.end.min(from + 6) {
        if known(&i) {
            last = Some(i);
        } else if last.is_some() || (i > from && CLOSERS.contains(&said.at(i))) {
            break;
        }
        if said.words[i].gap != super::token::Gap::None {
            break;
        }
    }
    last.or_else(|| {
        (said.group.base == "own"
            && !said.at(from).is_empty()
            && matches!(said.at(from), "a" | "an" | "the" | "two" | "three"))
        .then_some(from)
    })
    .filter(|&it| {
        // "a car accident", "a dog walker": the noun goes on.
        let next = said.at(it + 1);
        said.words[it].gap != super::token::Gap::None
            || next.is_empty()
            || CLOSERS.contains(&next)
            || said.group.base == "own"
            || said.capital(it + 1)
            || said.times().any(|t| t.range.start == said.words[it + 1].range.start)
    })
}

/// "got a puppy", "got a new bike".
fn got(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if !group.positive || !(matches!(said.at(group.next), "a" | "an" | "our" | "my") || is_number(said.at(group.next)))
    {
        return None;
    }
    let head = head(said, group.next)?;
    let noun = said.at(head);
    if !(PETS.contains(&noun) || THINGS.contains(&noun))
        || matches!(
            noun,
            "table" | "season" | "record" | "business" | "watch" | "desk" | "land" | "bed"
        )
    {
        return None;
    }
    let object = said.object(group.next)?;
    Some(Draft::new(Aspect::Possession, "owns", object).event().sure(0.8))
}

/// "bought a boat", "adopted a cat".
fn bought(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let first = said.at(group.next);
    let listed = is_number(first) || matches!(first, "a" | "an" | "some" | "our" | "my" | "another" | "new" | "myself");
    let from = group.next + usize::from(first == "myself");
    if !group.positive || !listed || matches!(group.base.as_str(), "build" | "order") && !things(said, from) {
        return None;
    }
    let object = said.object(from)?;
    // "a coffee machine" lasts, "a loaf at the bakery" does not.
    let words = object.split_whitespace().count();
    let eaten = (from..said.end.min(from + words)).find(|it| CONSUMED.contains(&said.at(*it)));
    if eaten.is_some_and(|eaten| head(said, from).is_none_or(|it| it < eaten)) {
        return None;
    }
    let predicate = match group.base.as_str() {
        "adopt" => "owns",
        "buy" => "bought",
        "order" => "ordered",
        "inherit" => "inherited",
        "build" => "built",
        _ => "rents",
    };
    Some(Draft::new(Aspect::Possession, predicate, object).event().sure(0.85))
}

fn things(said: &Said<'_>, from: usize) -> bool {
    (from..said.end.min(from + 6)).any(|it| THINGS.contains(&said.at(it)) || PETS.contains(&said.at(it)))
}

/// "sold the boat", "lost my ring", "gave away the piano".
fn gone(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let away = matches!(said.at(group.next), "away" | "up" | "off");
    let from = group.next + usize::from(away);
    let whose = matches!(said.at(from), "my" | "our" | "the" | "his" | "her");
    // What is sold was owned, whatever it is.
    let sold = group.base == "sell"
        && whose
        && said.at(from) != "the"
        && !matches!(said.at(from + 1), "soul" | "first" | "last" | "" | "own" | "hair");
    if sold && group.positive && said.object(from + 1).is_some_and(|it| it.split(' ').count() <= 3) {
        return Some(
            Draft::new(Aspect::Possession, "owns", said.object(from + 1)?)
                .event()
                .ended(true),
        );
    }
    if !group.positive || !whose || (group.base == "give" && !away) || group.base == "break" {
        return None;
    }
    let object = said
        .object(from + 1)
        .filter(|_| things(said, from) && head_is_thing(said, from + 1))?;
    Some(Draft::new(Aspect::Possession, "owns", object).event().ended(true))
}

fn head_is_thing(said: &Said<'_>, from: usize) -> bool {
    head(said, from).is_some()
}

/// "There are four of us".
pub(super) fn of_us(words: &[super::token::Word], at: usize) -> Option<String> {
    let is = |n: usize, list: &[&str]| words.get(at + n).is_some_and(|it| it.is(list));
    let count = words
        .get(at + 2)
        .filter(|it| is_number(&it.lower) && (NUMBERS.contains(&it.lower.as_str()) || it.lower.len() < 3))?;
    let rest = words[at.min(words.len())..].iter().skip(4).take(5);
    let short = words.len() <= at + 9 || rest.clone().any(|it| it.gap != super::token::Gap::None);
    (is(0, &["there"]) && is(1, &["are", "is"]) && is(3, &["of"]) && is(4, &["us"]) && short)
        .then(|| format!("{} people", count.lower))
}
