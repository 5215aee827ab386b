//! Namesakes: a name is shared by several people if the roles stated for it cannot all belong to one person.

use std::collections::BTreeSet;

use domain::entity::{Bearer, EntityKind};

use crate::entities::{Entities, roles};
use crate::word_lists::{COMBINABLE_ROLES, PARTNER_ROLES, WORK_ROLES};

/// Maximum number of namesakes reported for a name, and of roles and speakers reported for each.
const BEARERS_MAX: usize = 16;

/// Kinds of roles that can prove two namesakes different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RoleKind {
    Partner,
    Family,
    Work,
    /// An animal or a thing, with the word for it.
    Thing(&'static str),
}

/// The context in which a name is used.
pub(crate) enum NameUse<'a> {
    /// The speaker.
    Teller(&'a str),
    /// The owner of a role, as in "Ben's boss".
    Owner(&'a str),
}

/// The namesakes: for each, the statements about them.
pub(crate) struct Namesakes(Vec<BTreeSet<Role>>);

/// The speaker, the owner and the role.
type Role = (String, String, String);

impl Entities {
    /// Returns the namesakes that an entity combines, or none if no roles prove them different. A speaker is always one
    /// person.
    pub(crate) fn find_namesakes(&self, node: &str) -> Option<Namesakes> {
        let speaks = self.shown.get(node).is_some_and(|it| it.kind == EntityKind::Speaker);
        self.group_namesakes(&self.member_classes(node)).filter(|_| !speaks)
    }

    /// Returns the namesakes that an entity combines if it does not speak, in the form in which they are reported.
    pub(crate) fn build_bearers(&self, members: &[String]) -> Vec<Bearer> {
        let name = |class: &String| self.main_form(class).unwrap_or(class).clone();
        let groups = self.group_namesakes(members).map_or_else(Vec::new, |it| it.0);
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

    fn group_namesakes(&self, members: &[String]) -> Option<Namesakes> {
        let statements = members.iter().flat_map(|it| self.role_counts.statements_about_name(it));
        let statements: BTreeSet<Role> = statements
            .map(|(teller, owner, role)| (self.find_root(teller), self.find_root(owner), role.clone()))
            .collect();
        let owners: BTreeSet<&String> = statements.iter().map(|it| &it.1).collect();
        if owners.len() < 2 {
            return None;
        }
        // Each owner or speaker is assumed to know only one person of this name, so all statements about one owner or
        // by one speaker concern that person.
        let mut groups: Vec<BTreeSet<Role>> = Vec::new();
        for role in statements {
            let mut group = BTreeSet::from([role]);
            loop {
                let near = |it: &BTreeSet<Role>| it.iter().any(|a| group.iter().any(|b| a.0 == b.0 || a.1 == b.1));
                let Some(at) = groups.iter().position(near) else { break };
                group.extend(groups.swap_remove(at));
            }
            groups.push(group);
        }
        let own: Vec<Vec<RoleKind>> = groups.iter().map(sorts_stated_by_owners).collect();
        let mut pairs = own
            .iter()
            .enumerate()
            .flat_map(|(at, a)| own[at + 1..].iter().map(move |b| (a, b)));
        let apart = pairs.any(|(a, b)| a.iter().any(|a| b.iter().any(|b| cannot_be_one_person(*a, *b))));
        apart.then_some(Namesakes(groups))
    }

    /// Returns the entities with roles in relation to several owners, if `somebody` is one of the owners or speakers.
    pub(crate) fn entities_with_several_owners(&self, somebody: &str) -> BTreeSet<String> {
        let names = self
            .role_counts
            .role_holders(somebody)
            .chain(self.role_counts.names_with_roles_told_by(somebody));
        let nodes: BTreeSet<String> = names.map(|it| self.find_root(it)).collect();
        let several = |node: &String| {
            let members = self.member_classes(node);
            let owners: BTreeSet<&String> = members
                .iter()
                .flat_map(|it| self.role_counts.roles_of_name(it))
                .map(|it| &it.0)
                .collect();
            owners.len() > 1
        };
        nodes.into_iter().filter(several).collect()
    }
}

impl Namesakes {
    /// Returns the first (owner, role) of the namesake that is meant, or none if that is unknown.
    pub(crate) fn find_meant_role(&self, by: &NameUse<'_>) -> Option<(&String, &String)> {
        let is_meant = |it: &Role| match by {
            NameUse::Teller(teller) => it.0 == *teller,
            NameUse::Owner(owner) => it.1 == *owner,
        };
        let group = self.0.iter().find(|it| it.iter().any(is_meant))?;
        group.iter().map(|(_, owner, role)| (owner, role)).min()
    }
}

/// Returns the kinds of roles that owners state about themselves.
fn sorts_stated_by_owners(group: &BTreeSet<Role>) -> Vec<RoleKind> {
    let own = group.iter().filter(|(teller, owner, _)| teller == owner);
    own.filter_map(|it| sort_of_role(&it.2)).collect()
}

fn sort_of_role(role: &str) -> Option<RoleKind> {
    let kin = roles::kin_of_role(role)?;
    match kin.word {
        word if !kin.person => Some(RoleKind::Thing(word)),
        word if PARTNER_ROLES.contains(word) => Some(RoleKind::Partner),
        word if WORK_ROLES.contains(word) => Some(RoleKind::Work),
        word if COMBINABLE_ROLES.contains(word) => None,
        _ => Some(RoleKind::Family),
    }
}

/// Returns true if two roles, stated by different speakers, can hardly belong to one person.
fn cannot_be_one_person(a: RoleKind, b: RoleKind) -> bool {
    match (a, b) {
        (RoleKind::Thing(a), RoleKind::Thing(b)) => a != b,
        (RoleKind::Thing(_), _) | (_, RoleKind::Thing(_)) | (RoleKind::Partner, RoleKind::Partner) => true,
        (RoleKind::Work, other) | (other, RoleKind::Work) => other != RoleKind::Work,
        (RoleKind::Partner | RoleKind::Family, RoleKind::Partner | RoleKind::Family) => false,
    }
}
