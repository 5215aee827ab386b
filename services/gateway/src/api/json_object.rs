//! Deserializers that accept only JSON objects for structs. Serde alone also accepts a list, with the values in the
//! order of the fields.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A value that was deserialized from an object.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Object)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// Deserializes a field that is an object.
pub(crate) fn deserialize_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|it| it.0)
}

/// Deserializes a field that is an object or null.
pub(crate) fn object_or_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(deserializer).map(|it| it.map(|it| it.0))
}

/// Deserializes a list of objects.
pub(crate) fn deserialize_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(all.into_iter().map(|it| it.0).collect())
}

/// Returns the text of an error with its path in the document, if there is one.
pub(crate) fn at_path(path: &str, cause: &dyn fmt::Display) -> String {
    if path.is_empty() || path == "." || path == "?" {
        cause.to_string()
    } else {
        format!("{path}: {cause}")
    }
}
