//! Counts the roles that people are said to have in relation to others.

use std::collections::{BTreeMap, BTreeSet};

/// Counts by owner, role and name. `names` is the inverse. All names are classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    owners: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
    names: BTreeMap<String, BTreeSet<(String, String)>>,
    /// Number of statements by name and (teller, owner, role).
    told: BTreeMap<String, BTreeMap<(String, String, String), u64>>,
    /// Number of statements by teller and name.
    said: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Held {
    /// Counts a statement of `teller` that `name` is `role` to `owner`, or removes it if `more` is false. Returns
    /// true if the set of statements or roles changed.
    pub(super) fn step(&mut self, teller: &str, (owner, role, name): (&str, &str, &str), more: bool) -> bool {
        let told = self.told.entry(name.to_owned()).or_default();
        let key = (teller.to_owned(), owner.to_owned(), role.to_owned());
        let times = told.entry(key.clone()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        let turned = *times == u64::from(more);
        if *times == 0 {
            told.remove(&key);
        }
        if told.is_empty() {
            self.told.remove(name);
        }
        let said = self.said.entry(teller.to_owned()).or_default();
        let times = said.entry(name.to_owned()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        said.retain(|_, times| *times > 0);
        if said.is_empty() {
            self.said.remove(teller);
        }
        self.count(owner, role, name, more) || turned
    }

    fn count(&mut self, owner: &str, role: &str, name: &str, more: bool) -> bool {
        let roles = self.owners.entry(owner.to_owned()).or_default();
        let names = roles.entry(role.to_owned()).or_default();
        let times = names.entry(name.to_owned()).or_default();
        *times = if more { *times + 1 } else { times.saturating_sub(1) };
        let key = (owner.to_owned(), role.to_owned());
        let held = self.names.entry(name.to_owned()).or_default();
        if *times > 0 {
            return held.insert(key);
        }
        held.remove(&key);
        if held.is_empty() {
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
    pub(super) fn of(&self, owner: &str) -> impl Iterator<Item = (&String, &BTreeMap<String, u64>)> {
        self.owners.get(owner).into_iter().flatten()
    }

    /// Returns everyone with a role in relation to an owner.
    pub(super) fn names(&self, owner: &str) -> impl Iterator<Item = &String> {
        self.owners
            .get(owner)
            .into_iter()
            .flatten()
            .flat_map(|(_, names)| names.keys())
    }

    /// Returns the names about whose roles a teller speaks.
    pub(super) fn said(&self, teller: &str) -> impl Iterator<Item = &String> {
        self.said.get(teller).into_iter().flatten().map(|it| it.0)
    }

    /// Returns the statements about a name: (teller, owner, role).
    pub(super) fn told(&self, name: &str) -> impl Iterator<Item = &(String, String, String)> {
        self.told.get(name).into_iter().flatten().map(|it| it.0)
    }

    /// Returns the roles of a name: (owner, role).
    pub(super) fn roles(&self, name: &str) -> impl Iterator<Item = &(String, String)> {
        self.names.get(name).into_iter().flatten()
    }
}
