//! The bus inside one process: a durable queue in the store's file, and requests through channels.
//!
//! The file holds the pending messages. A lane in memory, one per group, holds the messages that are ready, so that
//! nothing polls. Lanes are changed only on the writer's thread, after the commit that changed the file, and by
//! consumers that take deliveries.

mod dead_letters;
mod delivery;
mod inquiries;
mod lane;
mod queue;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::port::{Bus, Delivery, Frame, Inquiry, Position, Result};
use futures::StreamExt;
use futures::stream::BoxStream;
use tracing::Instrument;

use crate::Options;
use crate::embedded::store::{Durability, Store};
use crate::request_servers::{self, Servers};
use lane::Lane;

/// Bus and dead letters in the store's file.
pub(crate) struct QueueBus {
    queue: Arc<Queue>,
    servers: Servers,
}

/// State that deliveries share with the bus.
struct Queue {
    store: Arc<Store>,
    ack_wait: Duration,
    frames_max: u64,
    lanes: Mutex<HashMap<(String, String), Arc<Lane>>>,
}

impl QueueBus {
    pub(crate) fn new(store: Arc<Store>, options: &Options) -> QueueBus {
        let (ack_wait, frames_max) = (options.ack_wait, options.queue_frames_max);
        let queue = Queue {
            store,
            ack_wait,
            frames_max,
            lanes: Mutex::default(),
        };
        QueueBus {
            queue: Arc::new(queue),
            servers: Servers::default(),
        }
    }
}

#[async_trait]
impl Bus for QueueBus {
    async fn publish(&self, frame: Frame) -> Result<Position> {
        let (subject, space) = (frame.subject.clone(), frame.space.clone());
        let frames_max = self.queue.frames_max;
        let queue = Arc::clone(&self.queue);
        let then = move |stored: &queue::PublishedFrame| {
            if stored.fresh {
                queue
                    .lanes_of(&subject)
                    .iter()
                    .for_each(|lane| lane.add_ready_message(stored.position, &space));
            }
        };
        let job = move |db: &_| queue::publish_frame(db, &frame, frames_max);
        let stored = self
            .queue
            .store
            .write_then("bus.publish", Durability::Power, job, then)
            .await?;
        Ok(Position(stored.position))
    }

    async fn check_room(&self, subject: &str) -> Result<()> {
        let (subject, frames_max) = (subject.to_owned(), self.queue.frames_max);
        let job = move |db: &_| queue::check_room(db, &subject, frames_max);
        self.queue.store.run_read("bus.check_room", job).await
    }

    async fn subscribe(&self, subject: &str, group: &str) -> Result<BoxStream<'static, Result<Delivery>>> {
        let lane = self.queue.join_group(subject, group).await?;
        let consumer = delivery::Consumer::new(Arc::clone(&self.queue), lane);
        let deliveries = futures::stream::unfold(consumer, |mut consumer| async move {
            let delivery = consumer.next().await;
            Some((delivery, consumer))
        });
        Ok(deliveries.boxed())
    }

    async fn request(&self, frame: Frame, patience: Duration) -> Result<Vec<u8>> {
        let span = tracing::info_span!("bus.request", subject = frame.subject);
        inquiries::send_request(&self.servers, frame, patience)
            .instrument(span)
            .await
    }

    async fn serve(&self, subject: &str) -> Result<BoxStream<'static, Inquiry>> {
        let (server, inquiries) = request_servers::inquiry_queue();
        self.servers.add_server(subject, server);
        Ok(inquiries)
    }

    async fn backlog(&self, subject: &str, group: &str) -> Result<u64> {
        if let Some(lane) = self.queue.find_lane(subject, group) {
            return Ok(lane.len());
        }
        let (subject, group) = (subject.to_owned(), group.to_owned());
        self.queue
            .store
            .run_read("bus.backlog", move |db| queue::count_backlog(db, &subject, &group))
            .await
    }

    async fn backlog_of_space(&self, subject: &str, space: &str) -> Result<u64> {
        let (subject, space) = (subject.to_owned(), space.to_owned());
        let job = move |db: &_| queue::backlog_of_space(db, &subject, &space);
        self.queue.store.run_read("bus.backlog_of_space", job).await
    }

    async fn unsettled(&self, subject: &str, space: &str, limit: usize) -> Result<Vec<Position>> {
        let (subject, space) = (subject.to_owned(), space.to_owned());
        let job = move |db: &_| queue::unsettled_positions(db, &subject, &space, limit);
        self.queue.store.run_read("bus.unsettled", job).await
    }

    async fn erase(&self, space: &str) -> Result<()> {
        let (space, erased) = (space.to_owned(), space.to_owned());
        let queue = Arc::clone(&self.queue);
        let then = move |(): &()| queue.lock_lanes().values().for_each(|lane| lane.erase_space(&erased));
        self.queue
            .store
            .write_then(
                "bus.erase",
                Durability::Power,
                move |db| queue::erase_space(db, &space),
                then,
            )
            .await
    }
}

impl Queue {
    /// Returns the lane of a group. From now on the group is known and receives all published messages.
    async fn join_group(self: &Arc<Queue>, subject: &str, group: &str) -> Result<Arc<Lane>> {
        if let Some(lane) = self.find_lane(subject, group) {
            return Ok(lane);
        }
        let key = (subject.to_owned(), group.to_owned());
        let (queue, name) = (Arc::clone(self), key.clone());
        // If two consumers join at once, the first one wins; the other lane was made from the same rows.
        let then = move |lane: &Arc<Lane>| {
            queue.lock_lanes().entry(key).or_insert_with(|| Arc::clone(lane));
        };
        let job = move |db: &_| Ok(Arc::new(queue::join_group(db, &name.0, &name.1)?));
        let new_lane = self
            .store
            .write_then("bus.subscribe", Durability::Power, job, then)
            .await?;
        Ok(self.find_lane(subject, group).unwrap_or(new_lane))
    }

    fn find_lane(&self, subject: &str, group: &str) -> Option<Arc<Lane>> {
        self.lock_lanes()
            .get(&(subject.to_owned(), group.to_owned()))
            .map(Arc::clone)
    }

    fn lanes_of(&self, subject: &str) -> Vec<Arc<Lane>> {
        self.lock_lanes()
            .iter()
            .filter(|(key, _)| key.0 == subject)
            .map(|(_, lane)| Arc::clone(lane))
            .collect()
    }

    fn lock_lanes(&self) -> MutexGuard<'_, HashMap<(String, String), Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
