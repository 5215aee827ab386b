//! Namesakes: a name is shared by several people if the roles stated for it cannot all belong to one person.

use std::collections::BTreeSet;

use domain::entity::{Bearer, EntityKind};

use super::{Entities, roles};

/// Roles that only one person can have in relation to another at a time.
const PARTNER: [&str; 6] = ["wife", "husband", "partner", "girlfriend", "boyfriend", "fianc\u{e9}"];
/// Roles at work and in services.
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
/// Roles that can be combined with any other role.
const LOOSE: [&str; 7] = [
    "friend",
    "colleague",
    "neighbour",
    "roommate",
    "classmate",
    "teammate",
    "student",
];

/// Maximum number of namesakes reported for a name, and of roles and tellers reported for each.
const BEARERS_MAX: usize = 16;

/// Kinds of roles that can prove two namesakes different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Partner,
    Family,
    Work,
    /// An animal or a thing, with the word for it.
    Thing(&'static str),
}

/// The context in which a name is used.
pub(super) enum By<'a> {
    /// The speaker.
    Teller(&'a str),
    /// The owner of a role, as in "Ben's boss".
    Owner(&'a str),
}

/// The namesakes: for each, the statements about them.
pub(super) struct Shared(Vec<BTreeSet<Role>>);

/// The teller, the owner and the role.
type Role = (String, String, String);

impl Entities {
    /// Returns the namesakes behind an entity, or none if no roles prove them different. A speaker is always one
    /// person.
    pub(super) fn shared(&self, node: &str) -> Option<Shared> {
        let speaks = self.shown.get(node).is_some_and(|it| it.kind == EntityKind::Speaker);
        self.apart(&self.members(node)).filter(|_| !speaks)
    }

    /// Returns the namesakes behind an entity that does not speak, in the form in which they are reported.
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
        // Each owner or teller is assumed to know only one person of this name, so all statements about one owner or
        // by one teller concern that person.
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

    /// Returns the entities with roles in relation to several owners, if `somebody` is one of the owners or one of
    /// the tellers.
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
    /// Returns the first (owner, role) of the namesake that is meant, or none if that is unknown.
    pub(super) fn meant(&self, by: &By<'_>) -> Option<(&String, &String)> {
        let asked = |it: &Role| match by {
            By::Teller(teller) => it.0 == *teller,
            By::Owner(owner) => it.1 == *owner,
        };
        let group = self.0.iter().find(|it| it.iter().any(asked))?;
        group.iter().map(|(_, owner, role)| (owner, role)).min()
    }
}

/// Returns the kinds of roles that owners state about themselves.
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

/// Returns true if two roles, stated by different tellers, can hardly belong to one person.
fn differ(a: Sort, b: Sort) -> bool {
    match (a, b) {
        (Sort::Thing(a), Sort::Thing(b)) => a != b,
        (Sort::Thing(_), _) | (_, Sort::Thing(_)) | (Sort::Partner, Sort::Partner) => true,
        (Sort::Work, other) | (other, Sort::Work) => other != Sort::Work,
        (Sort::Partner | Sort::Family, Sort::Partner | Sort::Family) => false,
    }
}
