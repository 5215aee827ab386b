//! A name that is two people's: what they are to those who tell of them cannot be one person.

use std::collections::BTreeSet;

use domain::entity::{Bearer, EntityKind};

use super::{Entities, roles};

/// Roles that one person has to one other person at a time.
const PARTNER: [&str; 6] = ["wife", "husband", "partner", "girlfriend", "boyfriend", "fianc\u{e9}"];
/// Roles of work and of services.
const WORK: [&str; 14] = [
    "boss",
    "manager",
    "teacher",
    "coach",
    "doctor",
    "dentist",
    "therapist",
    "landlord",
    "mentor",
    "tutor",
    "supervisor",
    "assistant",
    "nanny",
    "client",
];
/// Roles that anybody can have beside any other one.
const LOOSE: [&str; 7] = [
    "friend",
    "colleague",
    "neighbour",
    "roommate",
    "classmate",
    "teammate",
    "student",
];

/// Most of those who share a name that are told, and most words for each.
const BEARERS_MAX: usize = 16;

/// What somebody is to somebody, as far as it keeps two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Partner,
    Family,
    Work,
    /// An animal or a thing, by its word.
    Thing(&'static str),
}

/// By whom a name is asked for.
pub(super) enum By<'a> {
    /// Who says it.
    Teller(&'a str),
    /// Whose it is: "Ben's boss".
    Owner(&'a str),
}

/// Those who share a name, each by who tells of them, whose they are, and what.
pub(super) struct Shared(Vec<BTreeSet<Role>>);

/// Who tells it, whose somebody is, and what.
type Role = (String, String, String);

impl Entities {
    /// Those who share the name of an entity; none if nothing tells them apart. Whoever speaks is one.
    pub(super) fn shared(&self, node: &str) -> Option<Shared> {
        let speaks = self.shown.get(node).is_some_and(|it| it.kind == EntityKind::Speaker);
        self.apart(&self.members(node)).filter(|_| !speaks)
    }

    /// Those who share the name of an entity that does not speak, as they are told.
    pub(super) fn bearers(&self, members: &[String]) -> Vec<Bearer> {
        let name = |class: &String| self.name(class).unwrap_or(class).clone();
        let groups = self.apart(members).map_or_else(Vec::new, |it| it.0);
        let bearer = |group: &BTreeSet<Role>| {
            let (_, owner, role) = group.iter().min_by_key(|it| (&it.1, &it.2))?;
            let roles: BTreeSet<String> = group.iter().map(|it| format!("{}'s {}", name(&it.1), it.2)).collect();
            let tellers = group.iter().map(|it| &it.0).filter(|it| !it.is_empty());
            let tellers: BTreeSet<String> = tellers.map(name).collect();
            Some(Bearer {
                name: format!("{}'s {role}", name(owner)),
                roles: roles.into_iter().take(BEARERS_MAX).collect(),
                tellers: tellers.into_iter().take(BEARERS_MAX).collect(),
            })
        };
        let all: BTreeSet<Bearer> = groups.iter().filter_map(bearer).collect();
        all.into_iter().take(BEARERS_MAX).collect()
    }

    fn apart(&self, members: &[String]) -> Option<Shared> {
        let told = members.iter().flat_map(|it| self.held.told(it));
        let told: BTreeSet<Role> = told
            .map(|(teller, owner, role)| (self.root(teller), self.root(owner), role.clone()))
            .collect();
        let owners: BTreeSet<&String> = told.iter().map(|it| &it.1).collect();
        if owners.len() < 2 {
            return None;
        }
        // Whoever knows whose somebody is knows one of the name; so what is told of one owner, or by one teller, is one's.
        let mut groups: Vec<BTreeSet<Role>> = Vec::new();
        for role in told {
            let mut whole = BTreeSet::from([role]);
            loop {
                let near = |it: &BTreeSet<Role>| it.iter().any(|a| whole.iter().any(|b| a.0 == b.0 || a.1 == b.1));
                let Some(at) = groups.iter().position(near) else { break };
                whole.extend(groups.swap_remove(at));
            }
            groups.push(whole);
        }
        let own: Vec<Vec<Sort>> = groups.iter().map(own).collect();
        let mut pairs = own
            .iter()
            .enumerate()
            .flat_map(|(at, a)| own[at + 1..].iter().map(move |b| (a, b)));
        let apart = pairs.any(|(a, b)| a.iter().any(|a| b.iter().any(|b| differ(*a, *b))));
        apart.then_some(Shared(groups))
    }

    /// The entities that are anything to several owners, one of whom is `somebody`, or of whom `somebody` tells that.
    pub(super) fn contested(&self, somebody: &str) -> BTreeSet<String> {
        let names = self.held.names(somebody).chain(self.held.said(somebody));
        let nodes: BTreeSet<String> = names.map(|it| self.root(it)).collect();
        let several = |node: &String| {
            let members = self.members(node);
            let owners: BTreeSet<&String> = members
                .iter()
                .flat_map(|it| self.held.roles(it))
                .map(|it| &it.0)
                .collect();
            owners.len() > 1
        };
        nodes.into_iter().filter(several).collect()
    }
}

impl Shared {
    /// Returns whose the one is that is meant, and what: (owner, role), the first of them; none if that is not known.
    pub(super) fn meant(&self, by: &By<'_>) -> Option<(&String, &String)> {
        let asked = |it: &Role| match by {
            By::Teller(teller) => it.0 == *teller,
            By::Owner(owner) => it.1 == *owner,
        };
        let group = self.0.iter().find(|it| it.iter().any(asked))?;
        group.iter().map(|(_, owner, role)| (owner, role)).min()
    }
}

/// What somebody is to those who say so of themselves.
fn own(group: &BTreeSet<Role>) -> Vec<Sort> {
    let own = group.iter().filter(|(teller, owner, _)| teller == owner);
    own.filter_map(|it| sort(&it.2)).collect()
}

fn sort(role: &str) -> Option<Sort> {
    let kin = roles::last(role)?;
    match kin.word {
        word if !kin.person => Some(Sort::Thing(word)),
        word if PARTNER.contains(&word) => Some(Sort::Partner),
        word if WORK.contains(&word) => Some(Sort::Work),
        word if LOOSE.contains(&word) => None,
        _ => Some(Sort::Family),
    }
}

/// Says whether what is one to one teller and the other to another one is hardly one person.
fn differ(a: Sort, b: Sort) -> bool {
    match (a, b) {
        (Sort::Thing(a), Sort::Thing(b)) => a != b,
        (Sort::Thing(_), _) | (_, Sort::Thing(_)) | (Sort::Partner, Sort::Partner) => true,
        (Sort::Work, other) | (other, Sort::Work) => other != Sort::Work,
        (Sort::Partner | Sort::Family, Sort::Partner | Sort::Family) => false,
    }
}
