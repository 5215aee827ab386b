//! The bus on NATS: durable subjects in JetStream, requests over plain NATS.
//!
//! `provision` creates the streams; `NatsBus::connect` only checks that they exist. Each durable subject has one
//! stream. A message is kept until every known group has settled it, and is on disk before its publish is acknowledged.
//! `lane` and `feed` hand out the deliveries of JetStream, `settle` and `dead` end a delivery, `inquiry` sends and
//! serves requests.
//!
//! **Fairness.** The spaces of a subject are divided into partitions by a digest of their names (32 by default), and a
//! group has one consumer in each. A process takes about one message of each partition in turn, so a space waits for at
//! most one message of every other partition, however many messages are queued there. The spaces of one partition are
//! served in order of arrival: a space that sends many messages delays only the spaces in its partition, one in 32.
//! `messages_of_space_max` limits this delay. Messages that wait for a retry or are being handled count only against
//! the `unsettled_max` of their partition.
//!
//! **Order.** Within a space, messages are delivered in the order they were published, except redeliveries.
//!
//! **Keys.** A repeated key is recognised for `dedup_secs`. After a restart of the server, only the keys of messages
//! that are still stored are recognised: a message that every group has settled may then be stored again. Handlers are
//! idempotent, and the retries of one `publish` end within `publish_timeout_ms`, so nothing is lost or counted twice.
//!
//! **Attempts** are counted by the server. If a process pulled a message and ended before handing it out, that counts
//! as an attempt.
//!
//! **Not included:** requests have no stream and are never repeated. A reply or message larger than the server's
//! `max_payload` is refused, not split; Mnemic needs 8 MiB.

mod dead;
mod feed;
mod heard;
mod inquiry;
mod lane;
mod link;
mod name;
mod options;
mod permission;
mod schema;
mod settle;
mod stored;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_nats::jetstream;
use async_trait::async_trait;
use domain::port::{Bus, Delivery, Frame, Inquiry, Position, Result};
use domain::{ErrorKind, PortError};
use futures::StreamExt;
use futures::stream::BoxStream;
use tracing::Instrument;

use feed::Feed;
use lane::{Lane, Member};
use link::Link;
use name::Names;
use schema::Place;

use crate::servers::Servers;

pub use name::partition;
pub use options::{Credentials, Options, Tls};
pub use permission::{Permissions, Role, permissions};
pub use schema::{Drift, Topic, provision};

/// Bus and dead letters on NATS.
pub struct NatsBus {
    core: Arc<Core>,
    lanes: Mutex<HashMap<(String, String), Weak<Lane>>>,
}

/// State that all parts of one bus share.
struct Core {
    link: Arc<Link>,
    context: jetstream::Context,
    names: Names,
    options: Options,
    /// Number of partitions of each durable subject.
    topics: BTreeMap<String, u16>,
    servers: Servers,
}

impl NatsBus {
    /// Connects, and checks that the streams exist.
    ///
    /// # Errors
    ///
    /// `Unavailable` if no server can be reached; `Invalid` for wrong credentials and settings; `NotFound`, naming
    /// `mnemic provision`, if a stream is missing.
    pub async fn connect(options: &Options) -> Result<NatsBus> {
        let link = Link::connect(options).await?;
        let names = Names::new(&options.prefix);
        let mut topics = BTreeMap::new();
        for topic in &options.topics {
            let partitions = schema::partitions(&link, &names.stream(&topic.subject)).await?;
            topics.insert(topic.subject.clone(), partitions);
        }
        for stream in [names.dead_stream(), names.erased_stream()] {
            schema::exists(&link, &stream).await?;
        }
        let context = jetstream::ContextBuilder::new()
            .timeout(options.call_timeout())
            .build(link.client.clone());
        let core = Core {
            link: Arc::new(link),
            context,
            names,
            options: options.clone(),
            topics,
            servers: Servers::default(),
        };
        Ok(NatsBus {
            core: Arc::new(core),
            lanes: Mutex::default(),
        })
    }

    /// Returns true if there is a connection now; for readiness.
    #[must_use]
    pub fn connected(&self) -> bool {
        self.core.link.connected()
    }

    /// Returns how many times the server refused something because of missing permissions.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.core.link.refusals().borrow().count
    }

    /// Joins the lane of a group in this process; the first member creates it for all.
    async fn member(&self, subject: &str, group: &str, partitions: u16) -> Result<Member> {
        let key = (subject.to_owned(), group.to_owned());
        let (member, lane) = {
            let mut lanes = self.lanes();
            let there = lanes.get(&key).and_then(Weak::upgrade);
            if let Some(member) = there.and_then(|it| it.join(&self.core)) {
                return Ok(member);
            }
            let lane = Arc::new(Lane::new(subject, group));
            let Some(member) = lane.join(&self.core) else {
                return Err(link::internal("bus.subscribe", "a new lane is closed"));
            };
            lanes.retain(|_, it| it.strong_count() > 0);
            lanes.insert(key, Arc::downgrade(&lane));
            (member, lane)
        };
        let feed = Feed::open(&self.core, &lane, partitions)
            .await
            .inspect_err(|error| lane.fail(error))?;
        let span = tracing::info_span!(parent: None, "bus.feed", subject, group);
        tokio::spawn(feed.run().instrument(span));
        Ok(member)
    }

    fn lanes(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    fn partitions(&self, operation: &'static str, subject: &str) -> Result<u16> {
        self.topics.get(subject).copied().ok_or_else(|| {
            PortError::new(
                operation,
                ErrorKind::Invalid,
                format!("{subject} is not a durable subject"),
            )
        })
    }
}

#[async_trait]
impl Bus for NatsBus {
    async fn publish(&self, frame: Frame) -> Result<Position> {
        self.core.publish(&frame).await
    }

    async fn subscribe(&self, subject: &str, group: &str) -> Result<BoxStream<'static, Result<Delivery>>> {
        let partitions = self.core.partitions("bus.subscribe", subject)?;
        let place = Place {
            link: &self.core.link,
            names: &self.core.names,
            options: &self.core.options,
        };
        place.join(subject, partitions, group, false).await?;
        let member = self.member(subject, group, partitions).await?;
        let deliveries = futures::stream::unfold(Some(member), |member| async move {
            let member = member?;
            let delivery = member.next().await;
            let rest = delivery.is_ok().then_some(member);
            Some((delivery, rest))
        });
        Ok(deliveries.boxed())
    }

    async fn request(&self, frame: Frame, patience: Duration) -> Result<Vec<u8>> {
        let span = tracing::info_span!("bus.request", subject = frame.subject);
        inquiry::ask(&self.core, &frame, patience).instrument(span).await
    }

    async fn serve(&self, subject: &str) -> Result<BoxStream<'static, Inquiry>> {
        inquiry::serve(&self.core, subject).await
    }

    async fn backlog(&self, subject: &str, group: &str) -> Result<u64> {
        self.core.backlog(subject, group).await
    }

    async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64> {
        self.core.backlog_of_space(subject, space).await
    }

    async fn unsettled(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>> {
        self.core.unsettled(subject, space, limit).await
    }

    async fn erase(&self, space: &str) -> Result<()> {
        self.core.erase(space).await?;
        let lanes: Vec<Arc<Lane>> = self.lanes().values().filter_map(Weak::upgrade).collect();
        lanes.iter().for_each(|it| it.erase(space));
        Ok(())
    }

    async fn flush(&self) -> Result<()> {
        self.core.link.flush("bus.flush").await
    }
}
