//! Where somebody lives, comes from, has moved to.

use domain::fact::Aspect;
use domain::time::Precision;

use super::group::Shape;
use super::lexicon::PLACES;
use super::preference::any_more;
use super::said::{Draft, Said};
use crate::time::Kind;

/// "moved out of the flat, to a room in Porto": where they live after leaving.
pub(super) fn moved_on(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let rest = said.rest();
    let leaving = group.base == "move"
        && group.positive
        && matches!(group.shape, Shape::Past | Shape::Perfect)
        && rest.starts_with(&["out", "of"]);
    let to = rest
        .iter()
        .position(|it| matches!(*it, "to" | "into"))
        .filter(|_| leaving)?;
    let object = whereabouts(said, group.next + to + 1)?;
    Some(Draft::new(Aspect::Place, "lives in", object).event().sure(0.8))
}

/// "we move into the flat on the quay on 1 February": where they live from that day on. What is less exact may be put off.
pub(super) fn moves_on(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let set = matches!(group.shape, Shape::Present | Shape::Progressive) && group.positive && group.often.is_none();
    let day = said.times().find(|it| it.span.start > said.now);
    let exact = day.is_some_and(|it| it.span.precision == Precision::Day && it.kind != Kind::Interval);
    if group.base != "move" || !set || !exact || said.has(&["if", "unless", "every", "probably", "hopefully"]) {
        return None;
    }
    let rest = said.rest();
    let to = rest.iter().position(|it| matches!(*it, "to" | "into"))?;
    let object = whereabouts(said, group.next + to + 1).filter(|_| to <= 1)?;
    Some(Draft::new(Aspect::Place, "lives in", object).event().sure(0.75))
}

/// Reads where somebody lives.
pub(super) fn place(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    match group.base.as_str() {
        "live" | "reside" => lives(said),
        "move" | "relocate" | "emigrate" => moved(said).or_else(|| came(said)),
        "settle" if matches!(group.shape, Shape::Past | Shape::Perfect) => {
            let rest = said.rest();
            let at = rest.iter().position(|it| *it == "in").filter(|it| *it <= 1)?;
            let object = whereabouts(said, group.next + at + 1)?;
            Some(Draft::new(Aspect::Place, "lives in", object).event())
        }
        "grow" if group.shape == Shape::Past && said.at(group.next) == "up" => grew_up(said),
        "come" if group.shape == Shape::Present && said.at(group.next) == "from" => {
            // "She comes from Busan on Thursday" is a journey.
            let journey = said.times().count() > 0 || said.has(&["by", "to", "on", "with"]);
            let object = capital_place(said, group.next + 1).filter(|_| !journey)?;
            positive(said, Draft::new(Aspect::Place, "comes from", object))
        }
        "come" if matches!(group.shape, Shape::Past | Shape::Perfect) => came(said),
        // So Scots say for living there.
        "stay" if group.shape == Shape::Present && group.positive && said.at(group.next) == "in" => {
            let object = capital_place(said, group.next + 1).filter(|_| said.times().count() == 0)?;
            Some(Draft::new(Aspect::Place, "stays in", object).sure(0.7))
        }
        "stay" | "crash" | "crashing" if group.shape == Shape::Progressive => stays(said),
        "be" => is_from(said),
        _ => None,
    }
}

fn positive(said: &Said<'_>, draft: Draft) -> Option<Draft> {
    said.group.positive.then_some(draft)
}

fn lives(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let past = matches!(group.shape, Shape::Past);
    let now = matches!(
        group.shape,
        Shape::Present | Shape::Progressive | Shape::Lasting | Shape::Perfect
    );
    if !past && !now {
        return None;
    }
    let skip = usize::from(matches!(
        said.at(group.next),
        "alone" | "out" | "over" | "down" | "up" | "just" | "together" | "right"
    ));
    let preposition = said.at(group.next + skip);
    // "lives 200 m from the sea".
    let far = preposition.starts_with(|it: char| it.is_ascii_digit())
        && (group.next..said.end.min(group.next + 5)).any(|it| matches!(said.at(it), "from" | "outside"));
    if far && now && group.positive && said.times().count() == 0 {
        return Some(Draft::new(Aspect::Place, "lives", said.object(group.next + skip)?));
    }
    let predicate = match preposition {
        "in" | "on" | "at" | "near" | "by" | "above" | "outside" | "with" | "between" => format!("lives {preposition}"),
        "next" | "close" if said.at(group.next + skip + 1) == "to" => "lives near".to_owned(),
        "opposite" | "across" => format!("lives {preposition}"),
        _ => return None,
    };
    let skip = skip
        + usize::from(matches!(preposition, "next" | "close"))
        + usize::from(said.at(group.next + skip + 1) == "from");
    let from = group.next + skip + 1;
    let object = if preposition == "with" {
        companion(said, from)?
    } else {
        whereabouts(said, from)?
    };
    let over = past || group.ended || (!group.positive && any_more(said));
    let draft = Draft::new(Aspect::Place, predicate, object).ended(over);
    let draft = if past { draft.event().sure(0.8) } else { draft };
    // "I don't live in Porto" alone says that it is not so.
    let is_so = group.positive || over;
    Some(Draft {
        positive: is_so,
        predicate: if is_so {
            draft.predicate.clone()
        } else {
            format!("does not live {preposition}")
        },
        ..draft
    })
}

fn moved(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    if !matches!(group.shape, Shape::Past | Shape::Perfect) || !group.positive {
        return None;
    }
    let rest = said.rest();
    if let ["out", ..] = rest.as_slice() {
        let from = if rest.get(1) == Some(&"of") { 2 } else { 1 };
        let object = whereabouts(said, group.next + from)?;
        return (from == 2).then(|| Draft::new(Aspect::Place, "lives in", object).event().ended(true));
    }
    let to = rest.iter().position(|it| matches!(*it, "to" | "into"))?;
    let fine = rest[..to]
        .iter()
        .all(|it| matches!(*it, "back" | "out" | "over" | "down" | "up" | "here" | "again"));
    let from_place = rest.first() == Some(&"from") && to <= 4;
    if !fine && !from_place {
        return None;
    }
    let object = whereabouts(said, group.next + to + 1)?;
    Some(Draft::new(Aspect::Place, "lives in", object).event().sure(0.85))
}

/// "came over from Kumasi in 1998", "moved here from Porto".
fn came(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let over = matches!(said.at(group.next), "over" | "here") && said.at(group.next + 1) == "from";
    let done = matches!(group.shape, Shape::Past | Shape::Perfect);
    let object = capital_place(said, group.next + 2).filter(|_| over && done && group.positive)?;
    Some(Draft::new(Aspect::Place, "comes from", object).sure(0.75))
}

/// "is staying with my sister till May", "is staying at Ben's".
fn stays(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let from = group.next + 1;
    let mine = matches!(said.at(from), "us" | "me") && said.who.subject != super::Subject::Speaker;
    let object = match said.at(group.next) {
        "with" if mine => said.text.get(said.words[from].range.clone()).map(str::to_owned),
        "with" => companion(said, from),
        "at" if said.at(from).ends_with("'s") => said.object(from),
        "at" | "in" => whereabouts(said, from),
        _ => return None,
    }?;
    positive(
        said,
        Draft::new(Aspect::Place, format!("is staying {}", said.at(group.next)), object).sure(0.75),
    )
}

fn grew_up(said: &Said<'_>) -> Option<Draft> {
    let from = said.group.next + 1;
    let preposition = said.at(from);
    if !matches!(preposition, "in" | "on" | "near" | "by") {
        return None;
    }
    let object = whereabouts(said, from + 1)?;
    positive(
        said,
        Draft::new(Aspect::Place, format!("grew up {preposition}"), object),
    )
}

/// "I'm from Porto", "I was born in Porto", "we're based in Porto".
fn is_from(said: &Said<'_>) -> Option<Draft> {
    let group = &said.group;
    let rest = said.rest();
    let still = said.words[said.at..group.next].iter().any(|it| it.lower == "still");
    match (group.shape, rest.as_slice()) {
        (Shape::Be, ["in", ..]) if still && said.times().count() == 0 => {
            let object = capital_place(said, group.next + 1).filter(|it| it.split(' ').count() == 1)?;
            positive(said, Draft::new(Aspect::Place, "lives in", object).sure(0.66))
        }
        (Shape::Be, ["from", ..]) => {
            let object = capital_place(said, group.next + 1)?;
            positive(said, Draft::new(Aspect::Place, "comes from", object))
        }
        (Shape::Be | Shape::Been, ["based" | "settled", "in" | "near" | "at", ..]) => {
            let object = whereabouts(said, group.next + 2)?;
            positive(said, Draft::new(Aspect::Place, "lives in", object).sure(0.8))
        }
        (Shape::Was, ["born", ..]) => {
            let place = |it: &usize| said.at(*it) == "in" && capital_place(said, it + 1).is_some();
            let at = (group.next..said.end).find(place)?;
            let object = capital_place(said, at + 1)?;
            positive(said, Draft::new(Aspect::Place, "was born in", object))
        }
        _ => None,
    }
}

/// A place that is named or described: "Porto", "a flat by the river", "number 14".
pub(super) fn whereabouts(said: &Said<'_>, from: usize) -> Option<String> {
    let word = said.at(from);
    let starts = said
        .words
        .get(from + usize::from(word == "the"))
        .map_or(0, |it| it.range.start);
    if said.times().any(|it| it.range.start <= starts && starts < it.range.end) {
        return None;
    }
    let described =
        matches!(word, "a" | "an" | "the" | "my" | "our") || word.chars().next().is_some_and(|it| it.is_ascii_digit());
    if described {
        let gap = (from..said.end).find(|it| said.words[*it].gap != super::token::Gap::None);
        let end = gap.map_or(said.end, |it| it + 1).min(from + 6);
        let ahead = (from + 1..end).any(|it| PLACES.contains(&said.at(it)) || said.capital(it));
        return (ahead && !said.has(&["moment", "past", "present", "fear", "hope"]))
            .then(|| said.object(from))
            .flatten();
    }
    if PLACES.contains(&word) {
        return said.object(from);
    }
    capital_place(said, from)
}

fn capital_place(said: &Said<'_>, from: usize) -> Option<String> {
    let first = if said.at(from) == "the" { from + 1 } else { from };
    let skip = usize::from(matches!(
        said.at(first),
        "north" | "south" | "east" | "west" | "central" | "northern" | "southern" | "rural"
    ));
    let named = said.capital(first + skip) && !super::lexicon::NO_NAMES.contains(&said.at(first + skip));
    named.then(|| said.object(from)).flatten()
}

/// With whom somebody lives.
fn companion(said: &Said<'_>, from: usize) -> Option<String> {
    let word = said.at(from);
    let named = said.capital(from);
    let own = matches!(word, "my" | "our" | "two" | "three" | "four" | "a" | "his" | "her");
    let person = (from..said.end.min(from + 5)).any(|it| {
        super::lexicon::KIN.contains(&said.at(it))
            || super::lexicon::PETS.contains(&said.at(it))
            || super::lexicon::JOBS.contains(&said.at(it).trim_end_matches('s'))
    });
    (named || (own && person)).then(|| said.object(from)).flatten()
}
