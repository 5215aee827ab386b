//! Names on the server. What users choose (spaces) or callers choose (groups) enters a subject only as a digest or after a check.

use uuid::Uuid;

/// Addressee of what every group hears.
pub(super) const ALL: &str = "all";
/// Namespace of the digests of spaces.
const SPACES: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4e41_5453_7370_6163_6573);
/// Namespace of the digests of keys and of groups whose names do not suit a subject.
const KEYS: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4e41_5453_6b65_7973_0000);

/// Names of one installation.
///
/// A message of subject `s` lies at `<prefix>.s.<partition>.<addressee>.<space>`, where the addressee is `all`, or a
/// group to which something was replayed.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    pub(super) fn new(prefix: &str) -> Names {
        Names {
            prefix: prefix.to_owned(),
        }
    }

    pub(super) fn stream(&self, subject: &str) -> String {
        format!("{}-{}", self.prefix, subject.replace('.', "_"))
    }

    pub(super) fn dead_stream(&self) -> String {
        format!("{}-dead", self.prefix)
    }

    pub(super) fn erased_stream(&self) -> String {
        format!("{}-erased", self.prefix)
    }

    /// Everything of a durable subject.
    pub(super) fn all_of(&self, subject: &str) -> String {
        format!("{}.{subject}.*.*.*", self.prefix)
    }

    /// A message of a space to [`ALL`] or to the token of one group.
    pub(super) fn to(&self, subject: &str, partitions: u16, to: &str, space: &str) -> String {
        let partition = partition(space, partitions);
        format!("{}.{subject}.{partition}.{to}.{}", self.prefix, space_token(space))
    }

    /// Every message of a space, whoever it is addressed to.
    pub(super) fn to_anybody(&self, subject: &str, partitions: u16, space: &str) -> String {
        self.to(subject, partitions, "*", space)
    }

    /// What the consumer of a group hears in one partition.
    pub(super) fn heard(&self, subject: &str, partition: u16, group: &str) -> Vec<String> {
        [ALL.to_owned(), group_token(group)]
            .iter()
            .map(|to| format!("{}.{subject}.{partition}.{to}.*", self.prefix))
            .collect()
    }

    pub(super) fn dead(&self, space: &str) -> String {
        format!("{}.dead.{}", self.prefix, space_token(space))
    }

    pub(super) fn all_dead(&self) -> String {
        format!("{}.dead.*", self.prefix)
    }

    /// Where the last erasure of a space from a durable subject is noted.
    pub(super) fn erased(&self, subject: &str, space: &str) -> String {
        format!("{}.erased.{subject}.{}", self.prefix, space_token(space))
    }

    /// Where it is noted that a message was given up and then discarded.
    pub(super) fn discarded(&self, subject: &str, space: &str, position: u64) -> String {
        format!("{}.{position}", self.erased(subject, space))
    }

    /// What [`discarded`](Names::discarded) gives for all messages of a durable subject.
    pub(super) fn all_discarded(&self, subject: &str) -> String {
        format!("{}.erased.{subject}.*.*", self.prefix)
    }

    pub(super) fn all_erased(&self) -> String {
        format!("{}.erased.>", self.prefix)
    }

    pub(super) fn request(&self, subject: &str) -> String {
        format!("{}.request.{subject}", self.prefix)
    }
}

/// Returns the name of the consumer of a group in a partition.
pub(super) fn consumer(group: &str, partition: u16) -> String {
    format!("{}-{partition}", group_token(group))
}

/// Returns the partition of a space: the same in every process and release.
#[must_use]
pub fn partition(space: &str, partitions: u16) -> u16 {
    let (high, _) = digest(SPACES, space).as_u64_pair();
    u16::try_from(high % u64::from(partitions.max(1))).unwrap_or(0)
}

/// Reads the partition from the subject of a message.
pub(super) fn partition_of(subject: &str) -> Option<u16> {
    subject.rsplit('.').nth(2)?.parse().ok()
}

/// Returns an id for deduplication from parts that may hold anything.
pub(super) fn message_id(parts: &[&str]) -> String {
    let mut all = String::new();
    for part in parts {
        all.push_str(&format!("{}:{part}", part.len()));
    }
    digest(KEYS, &all).simple().to_string()
}

/// Says whether a text may be part of the name of a stream and of a subject.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

fn space_token(space: &str) -> String {
    digest(SPACES, space).simple().to_string()
}

/// Returns what a group is called in subjects and consumers.
pub(super) fn group_token(group: &str) -> String {
    if is_plain(group) && group != ALL {
        group.to_owned()
    } else {
        digest(KEYS, group).simple().to_string()
    }
}

fn digest(namespace: Uuid, text: &str) -> Uuid {
    Uuid::new_v5(&namespace, text.as_bytes())
}
