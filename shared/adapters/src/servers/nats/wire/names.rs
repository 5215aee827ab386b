//! Names on the server. Names chosen by users (spaces) or callers (groups) enter a subject only as a digest or after a
//! check.

use uuid::Uuid;

/// Addressee of messages to every group.
pub(crate) const ALL: &str = "all";
/// Namespace of the digests of spaces.
const SPACES: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4e41_5453_7370_6163_6573);
/// Namespace of the digests of keys, and of groups whose names are not valid in a subject.
const KEYS: Uuid = Uuid::from_u128(0x6d6e_656d_6963_4e41_5453_6b65_7973_0000);

/// The names of one installation.
///
/// A message of subject `s` has the NATS subject `<prefix>.s.<partition>.<addressee>.<space>`. The addressee is `all`,
/// or the group to which the message was replayed.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Names {
        Names {
            prefix: prefix.to_owned(),
        }
    }

    pub(crate) fn stream_name(&self, subject: &str) -> String {
        format!("{}-{}", self.prefix, subject.replace('.', "_"))
    }

    pub(crate) fn dead_stream(&self) -> String {
        format!("{}-dead", self.prefix)
    }

    pub(crate) fn erased_stream(&self) -> String {
        format!("{}-erased", self.prefix)
    }

    /// Returns the filter for all messages of a durable subject.
    pub(crate) fn all_of(&self, subject: &str) -> String {
        format!("{}.{subject}.*.*.*", self.prefix)
    }

    /// Returns the subject of a message of a space to [`ALL`] or to the token of one group.
    pub(crate) fn message_subject(&self, subject: &str, partitions: u16, to: &str, space: &str) -> String {
        let partition = partition_of_space(space, partitions);
        format!("{}.{subject}.{partition}.{to}.{}", self.prefix, space_token(space))
    }

    /// Returns the filter for all messages of a space, to any addressee.
    pub(crate) fn to_anybody(&self, subject: &str, partitions: u16, space: &str) -> String {
        self.message_subject(subject, partitions, "*", space)
    }

    /// Returns the filters of a group's consumer in one partition.
    pub(crate) fn consumer_filters(&self, subject: &str, partition: u16, group: &str) -> Vec<String> {
        [ALL.to_owned(), group_token(group)]
            .iter()
            .map(|to| format!("{}.{subject}.{partition}.{to}.*", self.prefix))
            .collect()
    }

    pub(crate) fn dead_letter_subject(&self, space: &str) -> String {
        format!("{}.dead.{}", self.prefix, space_token(space))
    }

    pub(crate) fn all_dead(&self) -> String {
        format!("{}.dead.*", self.prefix)
    }

    /// Returns the subject of the note about the last erasure of a space from a durable subject.
    pub(crate) fn erasure_note_subject(&self, subject: &str, space: &str) -> String {
        format!("{}.erased.{subject}.{}", self.prefix, space_token(space))
    }

    /// Returns the subject of the note that a message was given up and then discarded.
    pub(crate) fn discard_note_subject(&self, subject: &str, space: &str, position: u64) -> String {
        format!("{}.{position}", self.erasure_note_subject(subject, space))
    }

    /// Returns the filter for the notes about all erased messages of a durable subject.
    pub(crate) fn all_discarded(&self, subject: &str) -> String {
        format!("{}.erased.{subject}.*.*", self.prefix)
    }

    pub(crate) fn all_erased(&self) -> String {
        format!("{}.erased.>", self.prefix)
    }

    pub(crate) fn request_subject(&self, subject: &str) -> String {
        format!("{}.request.{subject}", self.prefix)
    }
}

/// Returns the name of a group's consumer in a partition.
pub(crate) fn consumer_name(group: &str, partition: u16) -> String {
    format!("{}-{partition}", group_token(group))
}

/// Returns the partition of a space. It is the same in every process and release.
#[must_use]
pub fn partition_of_space(space: &str, partitions: u16) -> u16 {
    let (high, _) = uuid_digest(SPACES, space).as_u64_pair();
    u16::try_from(high % u64::from(partitions.max(1))).unwrap_or(0)
}

/// Returns the partition in the subject of a message.
pub(crate) fn partition_of(subject: &str) -> Option<u16> {
    subject.rsplit('.').nth(2)?.parse().ok()
}

/// Returns an id for deduplication; the parts may contain any text.
pub(crate) fn message_id(parts: &[&str]) -> String {
    let mut all = String::new();
    for part in parts {
        all.push_str(&format!("{}:{part}", part.len()));
    }
    uuid_digest(KEYS, &all).simple().to_string()
}

/// Returns true if a text is valid as a part of stream names and subjects.
pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
}

fn space_token(space: &str) -> String {
    uuid_digest(SPACES, space).simple().to_string()
}

/// Returns the name of a group in subjects and consumers.
pub(crate) fn group_token(group: &str) -> String {
    if is_plain(group) && group != ALL {
        group.to_owned()
    } else {
        uuid_digest(KEYS, group).simple().to_string()
    }
}

fn uuid_digest(namespace: Uuid, text: &str) -> Uuid {
    Uuid::new_v5(&namespace, text.as_bytes())
}
