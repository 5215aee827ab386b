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

use crate::api::problem::Problem;
use crate::app::hex::to_hex;
use crate::use_cases::validate;

/// Prefix of the metadata keys that this API reserves.
pub(crate) const RESERVED: &str = "mem0.";
/// Prefix of the digest that replaces a name that cannot be part of the name of a space.
const DIGESTED: &str = "x--";

/// Kinds of entities that a memory may belong to; if there are several, the first kind decides the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    User,
    Agent,
    App,
    Run,
}

impl Kind {
    pub(crate) const ALL: [Kind; 4] = [Kind::User, Kind::Agent, Kind::App, Kind::Run];

    /// Returns the name of the kind in a path.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Agent => "agent",
            Kind::App => "app",
            Kind::Run => "run",
        }
    }

    /// Returns the field that holds the name of an entity of this kind.
    pub(crate) fn field_name(self) -> &'static str {
        match self {
            Kind::User => "user_id",
            Kind::Agent => "agent_id",
            Kind::App => "app_id",
            Kind::Run => "run_id",
        }
    }

    /// Returns the part of a space name that marks the kind.
    fn space_name_mark(self) -> &'static str {
        match self {
            Kind::User => "",
            Kind::Agent => "agent--",
            Kind::App => "app--",
            Kind::Run => "run--",
        }
    }

    /// Returns the kind with this name in a path.
    pub(crate) fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns the kind whose entity name is in this field.
    pub(crate) fn of_field(field: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|it| it.field_name() == field)
    }

    fn metadata_key(self) -> String {
        format!("{RESERVED}{}", self.field_name())
    }
}

/// A user, an agent, an app or a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entity {
    pub(crate) kind: Kind,
    pub(crate) name: String,
}

impl Entity {
    /// Returns the space of the entity.
    pub(crate) fn to_space_id(&self, prefix: &str) -> Result<SpaceId, Problem> {
        let Entity { kind, name } = self;
        let plain = format!("{prefix}{}{name}", kind.space_name_mark());
        let is_plain = name.bytes().next().is_some_and(|it| it.is_ascii_alphanumeric())
            && !name.starts_with(DIGESTED)
            && Kind::ALL
                .iter()
                .all(|it| it.space_name_mark().is_empty() || !name.starts_with(it.space_name_mark()));
        match plain.parse() {
            Ok(space) if is_plain => Ok(space),
            Ok(_) | Err(_) => {
                let digest = to_hex(&Sha256::digest(name.as_bytes())[..16]);
                let name = format!("{prefix}{}{DIGESTED}{digest}", kind.space_name_mark());
                name.parse().map_err(|_| Problem::internal_error())
            }
        }
    }

    /// Returns the entity of a space: its kind and, unless the name of the space holds only a digest, its name.
    pub(crate) fn of_space(prefix: &str, space: &SpaceId) -> Option<(Kind, Option<String>)> {
        let rest = space.as_str().strip_prefix(prefix)?;
        let marked = [Kind::Agent, Kind::App, Kind::Run];
        let (kind, name) = marked
            .into_iter()
            .find_map(|it| Some((it, rest.strip_prefix(it.space_name_mark())?)))
            .unwrap_or((Kind::User, rest));
        let name = (!name.starts_with(DIGESTED)).then(|| name.to_owned());
        Some((kind, name))
    }
}

/// Entities that a memory belongs to: at most one of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entities(BTreeMap<Kind, String>);

impl Entities {
    /// Reads the fields of a request that name entities; ignores other fields.
    pub(crate) fn from_fields(fields: &Map<String, Value>) -> Result<Entities, Problem> {
        let mut found = Entities::default();
        for kind in Kind::ALL {
            if let Some(name) = fields.get(kind.field_name()).and_then(name_of) {
                check_entity_name(kind, &name)?;
                found.0.insert(kind, name);
            }
        }
        Ok(found)
    }

    /// Returns the entities of a record: the owner of its space, and the entities in its metadata. A caller that writes
    /// to the space through another API cannot impersonate another entity.
    pub(crate) fn of_record(prefix: &str, record: &Record) -> Entities {
        let owner_of_kind = |kind: Kind| Some((kind, record.metadata.get(&kind.metadata_key())?.clone()));
        let mut found: BTreeMap<Kind, String> = Kind::ALL.into_iter().filter_map(owner_of_kind).collect();
        if let Some((kind, name_in_space)) = Entity::of_space(prefix, &record.space) {
            found.retain(|it, _| *it >= kind);
            // For a name that is a digest in the space name, the name in the metadata must have that digest.
            let owner_of_kind = found.remove(&kind).map(|name| Entity { kind, name });
            let owner_of_kind = owner_of_kind.filter(|it| it.to_space_id(prefix).is_ok_and(|it| it == record.space));
            if let Some(name) = name_in_space.or(owner_of_kind.map(|it| it.name)) {
                found.insert(kind, name);
            }
        }
        Entities(found)
    }

    /// Returns the entity whose space holds the memory.
    pub(crate) fn space_owner(&self) -> Option<Entity> {
        let (kind, name) = self.0.iter().next()?;
        Some(Entity {
            kind: *kind,
            name: name.clone(),
        })
    }

    pub(crate) fn get(&self, kind: Kind) -> Option<&str> {
        self.0.get(&kind).map(String::as_str)
    }

    /// Adds the entities of `other` whose kinds are missing.
    pub(crate) fn fill_missing_from(mut self, other: Entities) -> Entities {
        for (kind, name) in other.0 {
            self.0.entry(kind).or_insert(name);
        }
        self
    }

    /// Returns the metadata that store the entities.
    pub(crate) fn to_metadata(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|(kind, name)| (kind.metadata_key(), name.clone()))
    }

    /// Adds a field for each kind; null if there is no entity of the kind.
    pub(crate) fn write_fields(&self, into: &mut Map<String, Value>) {
        for kind in Kind::ALL {
            into.insert(kind.field_name().to_owned(), json!(self.get(kind)));
        }
    }
}

/// Returns the name of an entity as text; `None` if the value is empty or not a name.
pub(crate) fn name_of(value: &Value) -> Option<String> {
    let name = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (!name.trim().is_empty()).then_some(name)
}

/// Checks the name of an entity.
pub(crate) fn check_entity_name(kind: Kind, name: &str) -> Result<(), Problem> {
    validate::check_name(kind.field_name(), Some(name), validate::NAME_BYTES_MAX).map_err(Problem::invalid_request)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space_name_of(kind: Kind, name: &str) -> String {
        let entity = Entity {
            kind,
            name: name.to_owned(),
        };
        entity.to_space_id("mem0-").unwrap().to_string()
    }

    #[test]
    fn two_entities_never_share_a_space() {
        assert_eq!(space_name_of(Kind::User, "ann"), "mem0-ann");
        assert_eq!(space_name_of(Kind::Agent, "ann"), "mem0-agent--ann");
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
        let mut distinct_names = std::collections::BTreeSet::new();
        for kind in Kind::ALL {
            for name in names {
                assert!(distinct_names.insert(space_name_of(kind, name)), "{kind:?} {name}");
            }
        }
        // The name of another user's space, used as the name of a user.
        let digested = space_name_of(Kind::User, "Ann").replacen("mem0-", "", 1);
        assert_ne!(space_name_of(Kind::User, &digested), space_name_of(Kind::User, "Ann"));
    }

    #[test]
    fn entity_names_are_parsed_from_the_names_of_their_spaces() {
        for kind in Kind::ALL {
            let of = Entity::of_space("mem0-", &space_name_of(kind, "ann").parse().unwrap());
            assert_eq!(of, Some((kind, Some("ann".to_owned()))));
            let of = Entity::of_space("mem0-", &space_name_of(kind, "Ann").parse().unwrap());
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
        let owner_metadata = json!({"mem0.user_id": "Ann Lee", "mem0.agent_id": "bot"});
        assert_eq!(
            of(&space_name_of(Kind::User, "Ann Lee"), owner_metadata.clone()),
            "Ann Lee bot - -"
        );
        assert_eq!(
            of(&space_name_of(Kind::User, "Bob Lee"), owner_metadata.clone()),
            "- bot - -"
        );
        assert_eq!(of("mem0-bob", owner_metadata.clone()), "bob bot - -");
        assert_eq!(of("mem0-agent--other", owner_metadata), "- other - -");
        assert_eq!(of("mem0-bob", json!({})), "bob - - -");
    }

    #[test]
    fn the_first_kind_with_a_name_owns_the_space() {
        let fields = json!({"run_id": "r", "agent_id": 7, "user_id": " ", "app_id": null});
        let entities = Entities::from_fields(fields.as_object().unwrap()).unwrap();
        let owner = entities.space_owner().unwrap();
        assert_eq!((owner.kind, owner.name.as_str()), (Kind::Agent, "7"));
        assert_eq!(entities.get(Kind::Run), Some("r"));
    }
}
