//! What a key opens: the spaces, and the rights there.

use domain::id::SpaceId;
use domain::key::Quotas;

use crate::api::problem::Problem;
use crate::app::config::Right;

/// Access of the caller's key.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Name of the key; empty if the server has no keys.
    pub(crate) name: String,
    pub(crate) spaces: Vec<String>,
    pub(crate) rights: Vec<Right>,
    pub(crate) quotas: Quotas,
}

impl Access {
    /// Returns full access, which every caller of an open server has.
    pub(crate) fn with_all_rights() -> Access {
        Access {
            name: String::new(),
            spaces: vec!["*".to_owned()],
            rights: vec![Right::Read, Right::Write, Right::Admin],
            quotas: Quotas::default(),
        }
    }

    /// Returns the name of the key; an empty text if the server has no keys.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the key opens the space.
    pub(crate) fn opens_space(&self, space: &str) -> bool {
        is_opened(&self.spaces, space)
    }

    /// Returns the patterns of the spaces that the key opens, as configured.
    pub(crate) fn space_patterns(&self) -> &[String] {
        &self.spaces
    }

    /// Returns the rights of the key in the spaces that it opens.
    pub(crate) fn rights(&self) -> &[Right] {
        &self.rights
    }

    /// Returns the quotas of the key.
    pub(crate) fn quotas(&self) -> Quotas {
        self.quotas
    }

    /// Returns true if the key opens every space.
    pub(crate) fn opens_all(&self) -> bool {
        self.spaces.iter().any(|it| it == "*")
    }

    /// Checks a right that does not concern a single space.
    pub(crate) fn require_right(&self, right: Right) -> Result<(), Problem> {
        if self.rights.contains(&right) {
            Ok(())
        } else {
            Err(Problem::missing_right(right))
        }
    }

    /// Parses the name of a space and checks the key. A space that the key does not open is reported as unknown.
    pub(crate) fn authorize_space(&self, name: &str, right: Right) -> Result<SpaceId, Problem> {
        let space: SpaceId = name
            .parse()
            .map_err(|error: domain::id::InvalidSpace| Problem::invalid_request(error.to_string()))?;
        if !self.opens_space(space.as_str()) {
            return Err(Problem::unknown_space(&space));
        }
        self.require_right(right)?;
        Ok(space)
    }
}

/// Returns true if a pattern equals the name of the space, or ends in `*` after a prefix of the name.
pub(crate) fn is_opened(patterns: &[String], space: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => space.starts_with(prefix),
        None => space == pattern,
    })
}
