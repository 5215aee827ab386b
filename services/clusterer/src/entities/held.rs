//! Who is what to whom, counted.

use std::collections::{BTreeMap, BTreeSet};

/// Roles by owner and by name; all names are classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    owners: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
    names: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl Held {
    /// Counts that `name` is `role` to `owner`, or takes it back, and says whether it was not so before, or is not any more.
    pub(super) fn step(&mut self, owner: &str, role: &str, name: &str, more: bool) -> bool {
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

    /// What others are to an owner, and who.
    pub(super) fn of(&self, owner: &str) -> impl Iterator<Item = (&String, &BTreeMap<String, u64>)> {
        self.owners.get(owner).into_iter().flatten()
    }

    /// Everybody who is anything to an owner.
    pub(super) fn names(&self, owner: &str) -> impl Iterator<Item = &String> {
        self.owners
            .get(owner)
            .into_iter()
            .flatten()
            .flat_map(|(_, names)| names.keys())
    }

    /// Whose a name is, and what: (owner, role).
    pub(super) fn roles(&self, name: &str) -> impl Iterator<Item = &(String, String)> {
        self.names.get(name).into_iter().flatten()
    }
}
