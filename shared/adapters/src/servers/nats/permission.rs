//! The minimal NATS permissions of each service, after `provision` has run.

use std::fmt;

use domain::message::{
    AnswerV1, Message, PlanV1, RankV1, RecallV1, RecordsAcceptedV1, Request, RouteV1, ToolV1, ToolsV1, TurnV1,
    UnitsOrganisedV1, UnitsWrittenV1,
};

use super::options::Options;
use crate::servers::nats::wire::names::{self, Names};

/// Requests that the router answers.
const ROUTED: &[&str] = &[RouteV1::SUBJECT, ToolsV1::SUBJECT, ToolV1::SUBJECT, RecallV1::SUBJECT];
/// Requests that the reader answers.
const READ: &[&str] = &[AnswerV1::SUBJECT, PlanV1::SUBJECT, RankV1::SUBJECT, TurnV1::SUBJECT];

/// The services and tools that connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Accepts records, sends requests to router and reader, shows and replays dead letters, erases spaces.
    Gateway,
    /// Consumes records and its own announcements, announces units, removes erased data from dead letters.
    Writer,
    /// Consumes announcements of units.
    Clusterer,
    /// Serves requests for evidence, tools and recall.
    Router,
    /// Serves requests for answers, plans and decisions.
    Reader,
    /// Runs `mnemic provision`, and makes and restores copies of the streams.
    Operator,
}

/// The subjects that a role may use. `Display` gives the permissions block of a user in the configuration of
/// nats-server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Subjects it may publish to.
    pub publish: Vec<String>,
    /// Subjects it may subscribe to.
    pub subscribe: Vec<String>,
    /// Whether it may reply to requests.
    pub replies: bool,
}

struct Grants<'a> {
    names: Names,
    options: &'a Options,
    granted: Permissions,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 6] = [
        Role::Gateway,
        Role::Writer,
        Role::Clusterer,
        Role::Router,
        Role::Reader,
        Role::Operator,
    ];

    /// Returns the name of the service, which connections of the role use as `service`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Gateway => "gateway",
            Role::Writer => "writer",
            Role::Clusterer => "clusterer",
            Role::Router => "router",
            Role::Reader => "reader",
            Role::Operator => "operator",
        }
    }
}

/// Returns the permissions that a role needs, with the prefix, partitions and topics in `options`.
#[must_use]
pub fn permissions_of_role(role: Role, options: &Options) -> Permissions {
    let (records, units) = (RecordsAcceptedV1::SUBJECT, UnitsWrittenV1::SUBJECT);
    let organised = UnitsOrganisedV1::SUBJECT;
    let mut it = Grants::new(role, options);
    match role {
        Role::Gateway => {
            it.grant_publishing(records);
            it.grant_listing_consumers(records);
            it.grant_reading_messages(records);
            for subject in [ROUTED, READ].concat() {
                it.grant_requesting(subject);
            }
            it.tends_dead_letters();
            it.grant_erasing();
        }
        Role::Writer => {
            it.grant_consuming(records, RecordsAcceptedV1::GROUP);
            // To remove erased data from dead letters, and to discard those that would be empty then.
            it.reads_dead_letters();
            it.grant_discard_notes(records);
            it.grant_consuming(units, "segmenter");
            it.grant_publishing(units);
            it.grant_publishing(organised);
        }
        Role::Clusterer => it.grant_consuming(organised, "clusterer"),
        Role::Router => ROUTED.iter().for_each(|subject| it.grant_serving(subject)),
        Role::Reader => READ.iter().for_each(|subject| it.grant_serving(subject)),
        Role::Operator => {
            it.add_publish_subject("$JS.API.>".to_owned());
            // `nats account backup` acknowledges the parts of a copy there, and `nats account restore` sends them there.
            it.add_publish_subject("$JS.SNAPSHOT.>".to_owned());
        }
    }
    it.granted
}

impl Grants<'_> {
    fn new(role: Role, options: &Options) -> Grants<'_> {
        let mut it = Grants {
            names: Names::new(&options.prefix),
            options,
            granted: Permissions::default(),
        };
        it.granted.subscribe.push(format!("_INBOX_{}.>", role.name()));
        // Checked when connecting.
        for stream in it.stream_names() {
            it.add_publish_subject(format!("$JS.API.STREAM.INFO.{stream}"));
        }
        it
    }

    fn grant_publishing(&mut self, subject: &str) {
        self.add_publish_subject(format!("{}.{subject}.*.{}.*", self.options.prefix, names::ALL));
        self.reads_erasures();
    }

    fn grant_consuming(&mut self, subject: &str, group: &str) {
        let stream = self.names.stream_name(subject);
        self.add_publish_subject(format!("$JS.API.CONSUMER.NAMES.{stream}"));
        self.grant_listing_consumers(subject);
        for partition in 0..self.options.partitions {
            let consumer = names::consumer_name(group, partition);
            self.add_publish_subject(format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"));
            self.add_publish_subject(format!("$JS.ACK.{stream}.{consumer}.>"));
        }
        // Needed for storing dead letters and amended versions of them. A dead letter that is stored during the erasure
        // of its space is deleted again.
        self.add_publish_subject(self.names.all_dead());
        self.add_publish_subject(format!("$JS.API.STREAM.MSG.DELETE.{}", self.names.dead_stream()));
        self.reads_erasures();
    }

    fn grant_listing_consumers(&mut self, subject: &str) {
        self.add_publish_subject(format!("$JS.API.CONSUMER.LIST.{}", self.names.stream_name(subject)));
    }

    /// Grants reading the stored messages of a subject, which shows the unwritten batches of a space.
    fn grant_reading_messages(&mut self, subject: &str) {
        self.add_publish_subject(format!("$JS.API.STREAM.MSG.GET.{}", self.names.stream_name(subject)));
    }

    fn grant_requesting(&mut self, subject: &str) {
        self.add_publish_subject(self.names.request_subject(subject));
    }

    fn grant_serving(&mut self, subject: &str) {
        self.granted.subscribe.push(self.names.request_subject(subject));
        self.granted.replies = true;
    }

    fn reads_dead_letters(&mut self) {
        self.add_publish_subject(format!("$JS.API.STREAM.MSG.GET.{}", self.names.dead_stream()));
    }

    fn tends_dead_letters(&mut self) {
        self.reads_dead_letters();
        self.add_publish_subject(format!("$JS.API.STREAM.MSG.DELETE.{}", self.names.dead_stream()));
        for topic in &self.options.topics {
            for group in &topic.groups {
                let group = names::group_token(group);
                self.add_publish_subject(format!("{}.{}.*.{group}.*", self.options.prefix, topic.subject));
            }
        }
    }

    /// Grants notes about single discarded messages only. The note about the erasure of a whole space has a shorter
    /// subject.
    fn grant_discard_notes(&mut self, subject: &str) {
        self.add_publish_subject(self.names.all_discarded(subject));
    }

    fn grant_erasing(&mut self) {
        self.add_publish_subject(self.names.all_erased());
        for topic in &self.options.topics {
            let stream = self.names.stream_name(&topic.subject);
            self.add_publish_subject(format!("$JS.API.CONSUMER.NAMES.{stream}"));
            self.add_publish_subject(format!("$JS.API.STREAM.PURGE.{stream}"));
        }
        self.add_publish_subject(format!("$JS.API.STREAM.PURGE.{}", self.names.dead_stream()));
    }

    fn reads_erasures(&mut self) {
        self.add_publish_subject(format!("$JS.API.STREAM.MSG.GET.{}", self.names.erased_stream()));
    }

    fn stream_names(&self) -> Vec<String> {
        let topics = self.options.topics.iter().map(|it| self.names.stream_name(&it.subject));
        topics
            .chain([self.names.dead_stream(), self.names.erased_stream()])
            .collect()
    }

    fn add_publish_subject(&mut self, subject: String) {
        if !self.granted.publish.contains(&subject) {
            self.granted.publish.push(subject);
        }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = |f: &mut fmt::Formatter<'_>, name: &str, subjects: &[String]| {
            writeln!(f, "  {name}: [")?;
            subjects.iter().try_for_each(|it| writeln!(f, "    \"{it}\""))?;
            writeln!(f, "  ]")
        };
        writeln!(f, "permissions: {{")?;
        block(f, "publish", &self.publish)?;
        block(f, "subscribe", &self.subscribe)?;
        if self.replies {
            // A little longer than a question with language model calls may take.
            writeln!(f, "  allow_responses: {{ max: 1, expires: \"11m\" }}")?;
        }
        writeln!(f, "}}")
    }
}
