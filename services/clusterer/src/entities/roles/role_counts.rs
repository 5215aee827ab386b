//! Counts the roles that people are said to have in relation to others.

use std::collections::{BTreeMap, BTreeSet};

/// Counts by owner, role and name. `names` is the inverse. All names are classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RoleCounts {
    owners: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
    names: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Number of statements by name and (speaker, owner, role).
    statements_by_name: BTreeMap<String, BTreeMap<(String, String, String), u64>>,
    /// Number of statements by speaker and name.
    names_by_speaker: BTreeMap<String, BTreeMap<String, u64>>,
}

impl RoleCounts {
    /// Counts a statement of `teller` that `name` is `role` to `owner`, or removes it if `more` is false. Returns
    /// true if the set of statements or roles changed.
    pub(crate) fn count_statement(&mut self, teller: &str, owner: &str, role: &str, name: &str, more: bool) -> bool {
        let statements = self.statements_by_name.entry(name.to_owned()).or_default();
        let key = (teller.to_owned(), owner.to_owned(), role.to_owned());
        let times = statements.entry(key.clone()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        let turned = *times == u64::from(more);
        if *times == 0 {
            statements.remove(&key);
        }
        if statements.is_empty() {
            self.statements_by_name.remove(name);
        }
        let names = self.names_by_speaker.entry(teller.to_owned()).or_default();
        let times = names.entry(name.to_owned()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        names.retain(|_, times| *times > 0);
        if names.is_empty() {
            self.names_by_speaker.remove(teller);
        }
        self.count_role(owner, role, name, more) || turned
    }

    fn count_role(&mut self, owner: &str, role: &str, name: &str, more: bool) -> bool {
        let roles = self.owners.entry(owner.to_owned()).or_default();
        let names = roles.entry(role.to_owned()).or_default();
        let times = names.entry(name.to_owned()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        let key = (owner.to_owned(), role.to_owned());
        let roles_of_name = self.names.entry(name.to_owned()).or_default();
        if *times > 0 {
            return roles_of_name.insert(key);
        }
        roles_of_name.remove(&key);
        if roles_of_name.is_empty() {
            self.names.remove(name);
        }
        names.remove(name);
        if names.is_empty() {
            roles.remove(role);
        }
        if roles.is_empty() {
            self.owners.remove(owner);
        }
        true
    }

    /// Returns the roles that others have in relation to an owner, with their names.
    pub(crate) fn roles_of_owner(&self, owner: &str) -> impl Iterator<Item = (&String, &BTreeMap<String, u64>)> {
        self.owners.get(owner).into_iter().flatten()
    }

    /// Returns everyone with a role in relation to an owner.
    pub(crate) fn role_holders(&self, owner: &str) -> impl Iterator<Item = &String> {
        self.owners
            .get(owner)
            .into_iter()
            .flatten()
            .flat_map(|(_, names)| names.keys())
    }

    /// Returns the names about whose roles a speaker makes statements.
    pub(crate) fn names_with_roles_told_by(&self, teller: &str) -> impl Iterator<Item = &String> {
        self.names_by_speaker.get(teller).into_iter().flatten().map(|it| it.0)
    }

    /// Returns the statements about a name: (speaker, owner, role).
    pub(crate) fn statements_about_name(&self, name: &str) -> impl Iterator<Item = &(String, String, String)> {
        self.statements_by_name.get(name).into_iter().flatten().map(|it| it.0)
    }

    /// Returns the roles of a name: (owner, role).
    pub(crate) fn roles_of_name(&self, name: &str) -> impl Iterator<Item = &(String, String)> {
        self.names.get(name).into_iter().flatten()
    }
}
