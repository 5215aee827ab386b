//! The events of one space for one caller, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::Event as SseEvent;
use domain::PortError;
use domain::id::SpaceId;
use domain::port::SpaceInfo;
use futures::stream::{self, Stream};
use serde::Serialize;
use tokio::time::sleep;
use tracing::debug;

use super::notice::Notice;
use super::place::Place;
use super::watch::Watch;
use crate::api::{EventGap, EventKind};
use crate::edge::Share;
use crate::problem::Problem;
use crate::seal::Sealer;
use crate::state::App;

/// Longest pause between two looks while a store is away.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// What a caller whose stream broke off is told to wait before it comes again.
const COME_AGAIN: Duration = Duration::from_secs(2);

/// A stream that is open.
pub(crate) struct EventStream {
    app: App,
    space: SpaceId,
    sealer: Sealer,
    watch: Watch,
    /// What is to be sent, first to last.
    pending: VecDeque<SseEvent>,
    pause: Duration,
    _share: Share,
}

impl EventStream {
    /// Opens a stream that goes on after the event whose id is `last`, or begins now. What happened up to the return is in it.
    ///
    /// # Errors
    /// There is no such space; a store is away.
    pub(crate) async fn open(
        app: App,
        space: SpaceId,
        last: Option<&str>,
        share: Share,
    ) -> Result<EventStream, Problem> {
        let info = app.space(&space).await?;
        let sealer = app.sealer().await?.clone();
        let now = host::clock::now();
        let last = last.filter(|it| !it.is_empty());
        let resumed = last.map(|id| resume(&sealer, &info, id)).transpose();
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
            _share: share,
        };
        let watermark = stream.sealer.watermark(&stream.space, info.written)?;
        let outcome = stream.look(Some(info)).await;
        let opening = match resumed {
            Ok(Some(_)) => SseEvent::default(),
            // A caller that leaves before the first event can go on from here, too.
            Ok(None) => SseEvent::default().id(stream.id()?),
            Err(reason) => {
                let gap = EventGap {
                    space: stream.space.clone(),
                    watermark,
                    at: now,
                    reason: reason.to_owned(),
                };
                with_data(SseEvent::default().id(stream.id()?).event("gap"), &gap)
            }
        };
        stream.pending.push_front(opening.retry(COME_AGAIN).comment("open"));
        outcome?;
        Ok(stream)
    }

    /// Returns the events until the server stops.
    pub(crate) fn events(self) -> impl Stream<Item = Result<SseEvent, Infallible>> + Send + 'static {
        stream::unfold(self, async |mut it| {
            let event = it.next().await?;
            Some((Ok(event), it))
        })
    }

    async fn next(&mut self) -> Option<SseEvent> {
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
                Ok(()) => self.pause = poll,
                Err(error) => {
                    debug!(
                        error = &error as &dyn std::error::Error,
                        "a stream of events cannot look"
                    );
                    self.pause = (self.pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    async fn look_again(&mut self) -> Result<(), PortError> {
        let info = self.app.stores().records.space(&self.space).await?;
        self.look(info).await
    }

    /// Looks at the space, and takes up what was noticed also if the look ended early.
    async fn look(&mut self, info: Option<SpaceInfo>) -> Result<(), PortError> {
        let mut found = Vec::new();
        let outcome = self.watch.look(&self.app, info, &mut found).await;
        for notice in &found {
            match self.render(notice) {
                Ok(event) => self.pending.push_back(event),
                Err(problem) => debug!(status = problem.status, "an event cannot be written"),
            }
        }
        outcome
    }

    fn render(&self, notice: &Notice) -> Result<SseEvent, Problem> {
        let event = notice.event(&self.sealer, &self.space)?;
        let id = self.sealer.event_id(&self.space, &notice.place)?;
        Ok(with_data(SseEvent::default().id(id).event(name(event.kind)), &event))
    }

    /// Returns the id of where the stream is.
    fn id(&self) -> Result<String, Problem> {
        self.sealer.event_id(&self.space, self.watch.place())
    }
}

/// Returns the place of a caller that goes on, or why it cannot.
fn resume(sealer: &Sealer, info: &SpaceInfo, id: &str) -> Result<Place, &'static str> {
    let place = sealer.place(&info.space, id);
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

fn name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Searchable => "searchable",
        EventKind::Organised => "organised",
        EventKind::Erased => "erased",
    }
}

/// Adds data on one line: JSON has no line breaks of its own.
fn with_data(event: SseEvent, data: &impl Serialize) -> SseEvent {
    event.data(serde_json::to_string(data).unwrap_or_default())
}
