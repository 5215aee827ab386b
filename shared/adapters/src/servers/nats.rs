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
//! `messages_of_space_max` limits this delay. If a space has as many deliveries as it may have, up to eight messages of
//! its partition wait in the process, and later messages of other spaces are handed out before them. Messages that wait for a retry or are being handled count only against
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

mod connection;
mod connection_events;
mod delivery;
mod inquiry;
mod options;
mod permission;
mod schema;
mod stream;
pub(super) mod wire;

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

use crate::request_servers::Servers;
use connection::Link;
use delivery::feed::Feed;
use delivery::lane::Lane;
use delivery::member::Member;
use schema::GroupRegistry;
use wire::names::Names;

pub use options::{Credentials, Options, Tls, Topic};
pub use permission::{Permissions, Role, permissions_of_role};
pub use schema::{Drift, provision_streams};
pub use wire::names::partition_of_space;

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
            let partitions = schema::read_partitions(&link, &names.stream_name(&topic.subject)).await?;
            topics.insert(topic.subject.clone(), partitions);
        }
        for stream in [names.dead_stream(), names.erased_stream()] {
            schema::check_stream_exists(&link, &stream).await?;
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
    pub fn is_connected(&self) -> bool {
        self.core.link.is_connected()
    }

    /// Returns the number of times that the server refused an operation because of missing permissions.
    #[must_use]
    pub fn count_refusals(&self) -> u64 {
        self.core.link.watch_refusals().borrow().count
    }

    /// Joins the lane of a group in this process; the first member creates it for all.
    async fn join_lane(&self, subject: &str, group: &str, partitions: u16) -> Result<Member> {
        let key = (subject.to_owned(), group.to_owned());
        let (member, lane) = {
            let mut lanes = self.lock_lanes();
            let there = lanes.get(&key).and_then(Weak::upgrade);
            if let Some(member) = there.and_then(|it| Member::join(&it, &self.core)) {
                return Ok(member);
            }
            let lane = Arc::new(Lane::new(subject, group));
            let Some(member) = Member::join(&lane, &self.core) else {
                return Err(connection::internal_error("bus.subscribe", "a new lane is closed"));
            };
            lanes.retain(|_, it| it.strong_count() > 0);
            lanes.insert(key, Arc::downgrade(&lane));
            (member, lane)
        };
        let feed = Feed::open_inbox(&self.core, &lane, partitions)
            .await
            .inspect_err(|error| lane.close_with_error(error))?;
        let span = tracing::info_span!(parent: None, "bus.feed", subject, group);
        tokio::spawn(feed.run_until_closed().instrument(span));
        Ok(member)
    }

    fn lock_lanes(&self) -> MutexGuard<'_, HashMap<(String, String), Weak<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    fn partitions_of_subject(&self, operation: &'static str, subject: &str) -> Result<u16> {
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
        self.core.publish_frame(&frame).await
    }

    async fn check_room(&self, subject: &str) -> Result<()> {
        self.core.check_room(subject).await
    }

    async fn subscribe(&self, subject: &str, group: &str) -> Result<BoxStream<'static, Result<Delivery>>> {
        let partitions = self.core.partitions_of_subject("bus.subscribe", subject)?;
        let place = GroupRegistry {
            link: &self.core.link,
            names: &self.core.names,
            options: &self.core.options,
        };
        place.register_group(subject, partitions, group, false).await?;
        let member = self.join_lane(subject, group, partitions).await?;
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
        inquiry::send_request(&self.core, &frame, patience)
            .instrument(span)
            .await
    }

    async fn serve(&self, subject: &str) -> Result<BoxStream<'static, Inquiry>> {
        inquiry::serve_subject(&self.core, subject).await
    }

    async fn backlog(&self, subject: &str, group: &str) -> Result<u64> {
        self.core.count_backlog(subject, group).await
    }

    async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64> {
        self.core.backlog_of_space(subject, space).await
    }

    async fn unsettled(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>> {
        self.core.unsettled_positions(subject, space, limit).await
    }

    async fn erase(&self, space: &str) -> Result<()> {
        self.core.erase_space(space).await?;
        let lanes: Vec<Arc<Lane>> = self.lock_lanes().values().filter_map(Weak::upgrade).collect();
        lanes.iter().for_each(|it| it.erase_space(space));
        Ok(())
    }

    async fn flush(&self) -> Result<()> {
        self.core.link.flush("bus.flush").await
    }
}
