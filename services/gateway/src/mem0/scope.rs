//! The entities that a memory belongs to, and the space that holds it.
//!
//! A memory is in the space of its user; without a user in the space of its agent, else of its app, else of its run.
//! The space of the user `ann` is `mem0-ann`, the space of the agent `bot` is `mem0-agent--bot`. A name that cannot be
//! part of the name of a space, or that begins like a name of another kind, is replaced by `x--` and a digest. So two
//! entities never share a space.

use std::collections::BTreeMap;

use domain::id::SpaceId;
use domain::record::Record;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::auth::hex;
use crate::problem::Problem;
use crate::validate;

/// Prefix of the metadata keys that this API reserves.
pub(super) const RESERVED: &str = "mem0.";
/// Prefix of the digest that replaces a name that cannot be part of the name of a space.
const DIGESTED: &str = "x--";

/// Kinds of entities that a memory may belong to; if there are several, the first kind decides the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    User,
    Agent,
    App,
    Run,
}

impl Kind {
    pub(super) const ALL: [Kind; 4] = [Kind::User, Kind::Agent, Kind::App, Kind::Run];

    /// Returns the name of the kind in a path.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Agent => "agent",
            Kind::App => "app",
            Kind::Run => "run",
        }
    }

    /// Returns the field that holds the name of an entity of this kind.
    pub(super) fn field(self) -> &'static str {
        match self {
            Kind::User => "user_id",
            Kind::Agent => "agent_id",
            Kind::App => "app_id",
            Kind::Run => "run_id",
        }
    }

    /// Returns the part of a space name that marks the kind.
    fn mark(self) -> &'static str {
        match self {
            Kind::User => "",
            Kind::Agent => "agent--",
            Kind::App => "app--",
            Kind::Run => "run--",
        }
    }

    /// Returns the kind with this name in a path.
    pub(super) fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the kind whose entity name is in this field.
    pub(super) fn of_field(field: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|it| it.field() == field)
    }

    fn reserved(self) -> String {
        format!("{RESERVED}{}", self.field())
    }
}

/// A user, an agent, an app or a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entity {
    pub(super) kind: Kind,
    pub(super) name: String,
}

impl Entity {
    /// Returns the space of the entity.
    pub(super) fn space(&self, prefix: &str) -> Result<SpaceId, Problem> {
        let Entity { kind, name } = self;
        let plain = format!("{prefix}{}{name}", kind.mark());
        let is_plain = name.bytes().next().is_some_and(|it| it.is_ascii_alphanumeric())
            && !name.starts_with(DIGESTED)
            && Kind::ALL
                .iter()
                .all(|it| it.mark().is_empty() || !name.starts_with(it.mark()));
        match plain.parse() {
            Ok(space) if is_plain => Ok(space),
            Ok(_) | Err(_) => {
                let digest = hex(&Sha256::digest(name.as_bytes())[..16]);
                let name = format!("{prefix}{}{DIGESTED}{digest}", kind.mark());
                name.parse().map_err(|_| Problem::internal())
            }
        }
    }

    /// Returns the entity of a space: its kind and, unless the name of the space holds only a digest, its name.
    pub(super) fn of_space(prefix: &str, space: &SpaceId) -> Option<(Kind, Option<String>)> {
        let rest = space.as_str().strip_prefix(prefix)?;
        let marked = [Kind::Agent, Kind::App, Kind::Run];
        let (kind, name) = marked
            .into_iter()
            .find_map(|it| Some((it, rest.strip_prefix(it.mark())?)))
            .unwrap_or((Kind::User, rest));
        let name = (!name.starts_with(DIGESTED)).then(|| name.to_owned());
        Some((kind, name))
    }
}

/// Entities that a memory belongs to: at most one of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entities(BTreeMap<Kind, String>);

impl Entities {
    /// Reads the fields of a request that name entities; ignores other fields.
    pub(super) fn read(fields: &Map<String, Value>) -> Result<Entities, Problem> {
        let mut found = Entities::default();
        for kind in Kind::ALL {
            if let Some(name) = fields.get(kind.field()).and_then(name_of) {
                check(kind, &name)?;
                found.0.insert(kind, name);
            }
        }
        Ok(found)
    }

    /// Returns the entities of a record: the owner of its space, and the entities in its metadata. A caller that writes
    /// to the space through another API cannot impersonate another entity.
    pub(super) fn of_record(prefix: &str, record: &Record) -> Entities {
        let kept = |kind: Kind| Some((kind, record.metadata.get(&kind.reserved())?.clone()));
        let mut found: BTreeMap<Kind, String> = Kind::ALL.into_iter().filter_map(kept).collect();
        if let Some((kind, named)) = Entity::of_space(prefix, &record.space) {
            found.retain(|it, _| *it >= kind);
            // For a name that is a digest in the space name, the name in the metadata must have that digest.
            let kept = found.remove(&kind).map(|name| Entity { kind, name });
            let kept = kept.filter(|it| it.space(prefix).is_ok_and(|it| it == record.space));
            if let Some(name) = named.or(kept.map(|it| it.name)) {
                found.insert(kind, name);
            }
        }
        Entities(found)
    }

    /// Returns the entity whose space holds the memory.
    pub(super) fn owner(&self) -> Option<Entity> {
        let (kind, name) = self.0.iter().next()?;
        Some(Entity {
            kind: *kind,
            name: name.clone(),
        })
    }

    pub(super) fn get(&self, kind: Kind) -> Option<&str> {
        self.0.get(&kind).map(String::as_str)
    }

    /// Adds the entities of `other` whose kinds are missing.
    pub(super) fn or(mut self, other: Entities) -> Entities {
        for (kind, name) in other.0 {
            self.0.entry(kind).or_insert(name);
        }
        self
    }

    /// Returns the metadata that store the entities.
    pub(super) fn metadata(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|(kind, name)| (kind.reserved(), name.clone()))
    }

    /// Adds a field for each kind; null if there is no entity of the kind.
    pub(super) fn show(&self, into: &mut Map<String, Value>) {
        for kind in Kind::ALL {
            into.insert(kind.field().to_owned(), json!(self.get(kind)));
        }
    }
}

/// Returns the name of an entity as text; `None` if the value is empty or not a name.
pub(super) fn name_of(value: &Value) -> Option<String> {
    let name = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (!name.trim().is_empty()).then_some(name)
}

/// Checks the name of an entity.
pub(super) fn check(kind: Kind, name: &str) -> Result<(), Problem> {
    validate::name(kind.field(), Some(name), validate::NAME_BYTES_MAX).map_err(Problem::invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(kind: Kind, name: &str) -> String {
        let entity = Entity {
            kind,
            name: name.to_owned(),
        };
        entity.space("mem0-").unwrap().to_string()
    }

    #[test]
    fn two_entities_never_share_a_space() {
        assert_eq!(space(Kind::User, "ann"), "mem0-ann");
        assert_eq!(space(Kind::Agent, "ann"), "mem0-agent--ann");
        let long = "a".repeat(100);
        let names = [
            "Ann",
            "ann",
            "agent--ann",
            "x--ann",
            "ann@example.com",
            "-ann",
            "ä",
            long.as_str(),
        ];
        let mut seen = std::collections::BTreeSet::new();
        for kind in Kind::ALL {
            for name in names {
                assert!(seen.insert(space(kind, name)), "{kind:?} {name}");
            }
        }
        // The name of another user's space, used as the name of a user.
        let digested = space(Kind::User, "Ann").replacen("mem0-", "", 1);
        assert_ne!(space(Kind::User, &digested), space(Kind::User, "Ann"));
    }

    #[test]
    fn entity_names_are_parsed_from_the_names_of_their_spaces() {
        for kind in Kind::ALL {
            let of = Entity::of_space("mem0-", &space(kind, "ann").parse().unwrap());
            assert_eq!(of, Some((kind, Some("ann".to_owned()))));
            let of = Entity::of_space("mem0-", &space(kind, "Ann").parse().unwrap());
            assert_eq!(of, Some((kind, None)));
        }
        assert_eq!(Entity::of_space("mem0-", &"other".parse().unwrap()), None);
    }

    #[test]
    fn metadata_of_a_record_cannot_name_the_owner_of_another_space() {
        let of = |space: &str, metadata: Value| {
            let id = "00000000-0000-4000-8000-000000000000";
            let record = json!({"id": id, "space": space, "external_id": "1", "session": id, "session_name": "default",
                "ordinal": 0, "modality": "text", "actor": "user", "text": "Hi.", "observed_at": "2026-05-07T12:00:00Z",
                "metadata": metadata});
            let entities = Entities::of_record("mem0-", &serde_json::from_value(record).unwrap());
            Kind::ALL.map(|it| entities.get(it).unwrap_or("-").to_owned()).join(" ")
        };
        let kept = json!({"mem0.user_id": "Ann Lee", "mem0.agent_id": "bot"});
        assert_eq!(of(&space(Kind::User, "Ann Lee"), kept.clone()), "Ann Lee bot - -");
        assert_eq!(of(&space(Kind::User, "Bob Lee"), kept.clone()), "- bot - -");
        assert_eq!(of("mem0-bob", kept.clone()), "bob bot - -");
        assert_eq!(of("mem0-agent--other", kept), "- other - -");
        assert_eq!(of("mem0-bob", json!({})), "bob - - -");
    }

    #[test]
    fn the_first_kind_decides_the_space() {
        let fields = json!({"run_id": "r", "agent_id": 7, "user_id": " ", "app_id": null});
        let entities = Entities::read(fields.as_object().unwrap()).unwrap();
        let owner = entities.owner().unwrap();
        assert_eq!((owner.kind, owner.name.as_str()), (Kind::Agent, "7"));
        assert_eq!(entities.get(Kind::Run), Some("r"));
    }
}
