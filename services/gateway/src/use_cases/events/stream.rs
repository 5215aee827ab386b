//! The events of one space for one caller, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event as SseEvent;
use domain::PortError;
use domain::id::SpaceId;
use domain::key::KeyDigest;
use domain::port::SpaceInfo;
use futures::stream::{self, Stream};
use host::clock;
use serde::Serialize;
use tokio::time::sleep;
use tracing::debug;

use super::space_event::SpaceEvent;
use super::space_watch::Watch;
use super::stream_position::StreamPosition;
use crate::api::problem::Problem;
use crate::api::{EventGap, EventKind};
use crate::app::config::Right;
use crate::app::seal::Sealer;
use crate::app::state::{App, Share};

/// Longest pause between two polls while a store is not available.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Pause that a caller should make before it reconnects.
const COME_AGAIN: Duration = Duration::from_secs(2);

/// An open stream.
pub(crate) struct EventStream {
    app: App,
    space: SpaceId,
    sealer: Sealer,
    watch: Watch,
    /// Events to send, in order.
    pending: VecDeque<SseEvent>,
    pause: Duration,
    /// Digest of the caller's token; `None` if the server has no keys.
    token_digest: Option<KeyDigest>,
    _share: Share,
}

impl EventStream {
    /// Opens a stream that continues after the event with the id `last`, or starts now. It includes all events up to
    /// the return of this function. `token_digest` is that of the caller's token; `None` if the server has no keys.
    ///
    /// # Errors
    /// The space does not exist; a store is not available.
    pub(crate) async fn open_after_event(
        app: App,
        space: SpaceId,
        token_digest: Option<KeyDigest>,
        last: Option<&str>,
        share: Share,
    ) -> Result<EventStream, Problem> {
        let info = app.require_space(&space).await?;
        let sealer = app.sealer().await?.clone();
        let now = clock::now();
        let last = last.filter(|it| !it.is_empty());
        let resumed = last.map(|id| place_from_last_event_id(&sealer, &info, id)).transpose();
        let watch = match &resumed {
            Ok(Some(place)) => Watch::from_place(&space, place.clone()),
            Ok(None) | Err(_) => Watch::from_now(&info, now),
        };
        let mut stream = EventStream {
            pause: Duration::from_millis(app.config.events.poll_ms),
            app,
            space,
            sealer,
            watch,
            pending: VecDeque::new(),
            token_digest,
            _share: share,
        };
        let watermark = stream.sealer.seal_watermark(&stream.space, info.written)?;
        let outcome = stream.poll_space(Some(info)).await;
        let opening = match resumed {
            Ok(Some(_)) => SseEvent::default(),
            // A caller that disconnects before the first event can also continue from here.
            Ok(None) => SseEvent::default().id(stream.current_event_id()?),
            Err(reason) => {
                let gap = EventGap {
                    space: stream.space.clone(),
                    watermark,
                    at: now,
                    reason: reason.to_owned(),
                };
                with_data(SseEvent::default().id(stream.current_event_id()?).event("gap"), &gap)
            }
        };
        stream.pending.push_front(opening.retry(COME_AGAIN).comment("open"));
        outcome?;
        Ok(stream)
    }

    /// Returns the events until the server stops or the caller's key no longer opens the space.
    pub(crate) fn into_events(self) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send + 'static {
        stream::unfold(self, async |mut it| {
            let event = it.next_event().await?;
            Some((Ok(event), it))
        })
    }

    async fn next_event(&mut self) -> Option<SseEvent> {
        let poll = Duration::from_millis(self.app.config.events.poll_ms);
        let shutdown = self.app.context.shutdown.clone();
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            tokio::select! {
                () = shutdown.cancelled() => return None,
                () = sleep(self.pause) => {}
            }
            match self.look_again().await {
                Ok(true) => self.pause = poll,
                Ok(false) => return None,
                Err(error) => {
                    debug!(
                        error = &error as &dyn std::error::Error,
                        "a stream of events cannot poll its space"
                    );
                    self.pause = (self.pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    /// Polls the space if the caller's key still opens it; returns false if it does not.
    async fn look_again(&mut self) -> Result<bool, PortError> {
        let stores = self.app.stores();
        if let Some(digest) = &self.token_digest {
            let now = clock::now();
            let access = self.app.keys.find_access_by_digest(&*stores.keys, digest, now).await?;
            if access.is_none_or(|it| it.authorize_space(self.space.as_str(), Right::Read).is_err()) {
                return Ok(false);
            }
        }
        let info = stores.records.space(&self.space).await?;
        self.poll_space(info).await?;
        Ok(true)
    }

    /// Polls the space, and queues the events that were noticed, also if the poll failed later.
    async fn poll_space(&mut self, info: Option<SpaceInfo>) -> Result<(), PortError> {
        let mut found = Vec::new();
        let outcome = self.watch.poll_events(&self.app, info, &mut found).await;
        for notice in &found {
            match self.render_notice(notice) {
                Ok(event) => self.pending.push_back(event),
                Err(problem) => debug!(status = problem.status, "an event cannot be written"),
            }
        }
        outcome
    }

    fn render_notice(&self, notice: &SpaceEvent) -> Result<SseEvent, Problem> {
        let event = notice.to_event(&self.sealer, &self.space)?;
        let id = self.sealer.event_id(&self.space, &notice.place)?;
        Ok(with_data(
            SseEvent::default().id(id).event(event_kind_name(event.kind)),
            &event,
        ))
    }

    /// Returns the id of the current place of the stream.
    fn current_event_id(&self) -> Result<String, Problem> {
        self.sealer.event_id(&self.space, self.watch.place())
    }
}

/// Returns the place of a caller that reconnects, or the reason why the stream cannot continue.
fn place_from_last_event_id(sealer: &Sealer, info: &SpaceInfo, id: &str) -> Result<StreamPosition, &'static str> {
    let place = sealer.place_from_event_id(&info.space, id);
    let place = place.ok_or(
        "Last-Event-ID is not the id of an event of this space, or was made with a key that this server does not have",
    )?;
    if place.created_at != info.created_at {
        return Err("the space was deleted and created again since");
    }
    if place.searchable > info.written || place.organised > info.written {
        return Err("the memory was restored from a copy that is older than the event");
    }
    Ok(place)
}

fn event_kind_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Searchable => "searchable",
        EventKind::Organised => "organised",
        EventKind::Erased => "erased",
    }
}

/// Adds data on one line: JSON contains no raw line breaks.
fn with_data(event: SseEvent, data: &impl Serialize) -> SseEvent {
    event.data(serde_json::to_string(data).unwrap_or_default())
}
