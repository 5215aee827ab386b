//! Which name goes into which: nicknames, first names, titles, plurals, typos.

use super::calls::Calls;
use super::fold::singular;
use super::forms::{Forms, LONG, Sum};

/// Most full names looked at for a first name; a name that so many share is nobody's.
const FULLS_MAX: usize = 64;
/// A name is told this often before another one can be its typo.
const KNOWN: u64 = 3;

/// A name that another one goes into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The class that stays.
    pub(super) parent: String,
    /// Why, in words.
    pub(super) why: &'static str,
}

/// Returns the name that a class goes into. A name that may be two people's goes into neither.
pub(super) fn parent(forms: &Forms, calls: &Calls, class: &str) -> Option<Link> {
    let own = forms.sum(class);
    if own.spoken > 0 {
        return None;
    }
    let link = |parent: &String, why| Link {
        parent: parent.clone(),
        why,
    };
    let called = calls.claims(class);
    let fulls = fulls(forms, class, &own);
    match (called.len(), fulls.len()) {
        (0, 0) => {}
        (1, _) => {
            let parent = called.into_iter().next()?;
            // Who is called so all the time is not in doubt because somebody else has the name as well, unless both speak.
            let other = fulls.iter().any(|it| *it != parent && forms.sum(it).spoken > 0);
            return (!other).then(|| link(parent, "called so by the one they talk with"));
        }
        (0, 1) => return Some(link(fulls[0], "the one known full name that is cut short to it")),
        _ => return None,
    }
    if let Some(parent) = plural(forms, class, &own) {
        return Some(link(parent, "the same in the plural"));
    }
    let parent = typo(forms, class, &own)?;
    Some(link(parent, "one letter away from a name that is known, told once"))
}

/// Full names of people that are cut short to `class`; none if there are too many to look at.
fn fulls<'a>(forms: &'a Forms, class: &str, own: &Sum) -> Vec<&'a String> {
    let all: Vec<&String> = forms.fulls(class).take(FULLS_MAX + 1).collect();
    let person = |full: &&String| {
        let sum = forms.sum(full);
        let told = sum.person + own.person > 0 && sum.person >= sum.place && own.person >= own.place;
        sum.spoken > 0 || told
    };
    if all.len() > FULLS_MAX {
        // More than one in any case.
        return all;
    }
    all.into_iter().filter(person).collect()
}

/// The name of a thing that differs in number: the one told more, the singular on ties.
fn plural<'a>(forms: &'a Forms, class: &'a str, own: &Sum) -> Option<&'a String> {
    if own.is_person() {
        return None;
    }
    let mates = forms.plurals(class).map(|it| (it, forms.sum(it)));
    let things = mates.filter(|(_, sum)| !sum.is_person() && sum.told > 0);
    let key = |class: &str, sum: &Sum| (sum.told, singular(class) == class, std::cmp::Reverse(class.to_owned()));
    let best = things.max_by_key(|(it, sum)| key(it, sum))?;
    (key(best.0, &best.1) > key(class, own)).then_some(best.0)
}

/// The name that `class`, told once, is a slip of.
fn typo<'a>(forms: &'a Forms, class: &'a str, own: &Sum) -> Option<&'a String> {
    if own.told != 1 {
        return None;
    }
    let mut found = forms.near(class).into_iter().filter(|it| {
        let sum = forms.sum(it);
        sum.told + sum.spoken >= KNOWN && slips(class, it)
    });
    let only = found.next();
    only.filter(|_| found.next().is_none())
}

/// Says whether one word of a name is another one with one letter wrong, missing, doubled or in the wrong place, and is no
/// word by itself. Not the first letter, and none of the last two: they tell apart number, gender and whole names.
fn slips(rare: &str, known: &str) -> bool {
    let (rare, known): (Vec<&str>, Vec<&str>) = (rare.split(' ').collect(), known.split(' ').collect());
    if rare.len() != known.len() {
        return false;
    }
    let mut differing = rare.iter().zip(&known).filter(|(one, other)| one != other);
    let (Some((rare, known)), None) = (differing.next(), differing.next()) else {
        return false;
    };
    let (one, other): (Vec<char>, Vec<char>) = (rare.chars().collect(), known.chars().collect());
    let letters = one.iter().chain(&other).all(|it| it.is_alphabetic());
    let long = one.len().min(other.len()) >= LONG - 1;
    let head = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let tail = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // What is left between head and tail: one letter, or two that changed places.
    let (mid_one, mid_other) = (
        one.len().saturating_sub(head + tail),
        other.len().saturating_sub(head + tail),
    );
    let close = mid_one <= 1 && mid_other <= 1
        || mid_one == 2 && mid_other == 2 && one[head] == other[head + 1] && one[head + 1] == other[head];
    let unknown = text::Table::builtin().pieces(rare).len() != 1;
    letters && long && head >= 1 && tail >= 2 && close && unknown
}
