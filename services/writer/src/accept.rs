//! Accepted records to searchable turn units, at once.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{RecordsAcceptedV1, UnitsWrittenV1};
use domain::port::Point;
use domain::record::Record;
use domain::unit::Unit;
use domain::{Classify, ErrorKind, PortError};
use futures::future::try_join_all;
use host::{Backends, Context, Meta};
use tracing::{Instrument, debug, info_span};

use crate::erase::Around;
use crate::points::Part;
use crate::window::Place;
use crate::{Error, erase, points, window, write};

/// Sessions of one batch that are read at once.
const SESSIONS_AT_ONCE: usize = 8;

/// Consecutive records of a session and those of them to write.
type Window = (Vec<Record>, BTreeSet<RecordId>);

/// Stores the records and their turn units, makes them searchable, does what people decided, marks the batch and
/// announces it.
///
/// A batch that is marked already is announced only, which the bus stores once. A space that is gone brings nothing back.
pub(crate) async fn accept(context: &Context, message: RecordsAcceptedV1, meta: Meta) -> Result<(), Error> {
    let backends = &context.backends;
    let space = message.space.clone();
    let mut sessions: BTreeSet<SessionId> = message.records.iter().map(|it| it.session).collect();
    let mut units: Vec<UnitId> = message.records.iter().map(|it| UnitId::turn(it.id)).collect();
    let around = match written(backends, message, &meta).await {
        Ok(around) => around,
        Err(error) if error.kind() == ErrorKind::NotFound => return gone(backends, &space, error).await,
        Err(error) => return Err(error),
    };
    sessions.extend(around.sessions);
    let known: BTreeSet<UnitId> = units.iter().copied().collect();
    units.extend(around.units.difference(&known));
    let announcement = UnitsWrittenV1 {
        space,
        position: meta.position,
        sessions: sessions.into_iter().collect(),
        units,
    };
    context.publish(&announcement).await?;
    Ok(())
}

/// Does what the message says, unless that is done already, and returns what else has to be organised.
async fn written(backends: &Backends, message: RecordsAcceptedV1, meta: &Meta) -> Result<Around, Error> {
    let RecordsAcceptedV1 {
        space,
        mut records,
        curations,
        ..
    } = message;
    let erased = erase::wanted(&curations);
    if meta.attempt > 1 && backends.records.is_written(&space, meta.position).await? {
        let around = match erased.is_empty() {
            true => Around::default(),
            false => erase::traces(backends, &space, &erased).await?,
        };
        return Ok(around);
    }
    let revoked = erase::revoked(backends, &space, &records).await?;
    records.retain(|it| !revoked.contains(&it.id));
    if !records.is_empty() {
        store(backends, &space, records).await?;
    }
    if !curations.is_empty() {
        backends.records.put_curations(&space, &curations).await?;
    }
    let around = erase::erase(backends, &space, &erased)
        .instrument(info_span!("erase", records = erased.len()))
        .await?;
    backends.records.mark_written(&space, meta.position).await?;
    Ok(around)
}

async fn store(backends: &Backends, space: &SpaceId, records: Vec<Record>) -> Result<(), Error> {
    let put = info_span!("records.put", records = records.len());
    backends.records.put(space, &records).instrument(put).await?;
    let windows = windows(backends, space, &records).await?;
    let rules = info_span!("rules");
    let (units, parts) = tokio::task::spawn_blocking(move || rules.in_scope(|| derive(&windows))).await?;
    let points = embed(backends, parts).await?;
    let (graph, index) = (&backends.graph, &backends.index);
    tokio::try_join!(
        graph
            .put_units(space, &units, &[])
            .instrument(info_span!("graph.put_units", units = units.len())),
        index
            .put(space, &points, &[])
            .instrument(info_span!("index.put", points = points.len())),
    )?;
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    erase::recalled(backends, space, &ids).await?;
    Ok(())
}

/// Stretches of sessions with the records to write in each.
async fn windows(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<Vec<Window>, PortError> {
    let mut sessions: BTreeMap<SessionId, BTreeSet<Place>> = BTreeMap::new();
    for record in records {
        sessions.entry(record.session).or_default().insert(record.order());
    }
    let span = info_span!("session.window", sessions = sessions.len());
    let sessions: Vec<(SessionId, BTreeSet<Place>)> = sessions.into_iter().collect();
    let mut out = Vec::new();
    for some in sessions.chunks(SESSIONS_AT_ONCE) {
        let mut reads = Vec::with_capacity(some.len());
        for (session, places) in some {
            reads.push(read(backends, space, *session, places));
        }
        let windows = try_join_all(reads).instrument(span.clone()).await?;
        out.extend(windows.into_iter().flatten());
    }
    Ok(out)
}

async fn read(
    backends: &Backends,
    space: &SpaceId,
    session: SessionId,
    places: &BTreeSet<Place>,
) -> Result<Vec<Window>, PortError> {
    let stretches = window::around(backends, space, session, places).await?;
    let wanted: BTreeSet<RecordId> = places.iter().map(|it| it.2).collect();
    Ok(stretches.into_iter().map(|it| (it.records, wanted.clone())).collect())
}

fn derive(windows: &[Window]) -> (Vec<Unit>, Vec<Part>) {
    let mut units = Vec::new();
    for (window, wanted) in windows {
        let places: Vec<usize> = (0..window.len())
            .filter(|&at| wanted.contains(&window[at].id))
            .collect();
        units.extend(write(window, &places));
    }
    units.sort_by_key(|it| it.id);
    units.dedup_by_key(|it| it.id);
    let parts = units.iter().flat_map(points::parts).collect();
    (units, parts)
}

async fn embed(backends: &Backends, mut parts: Vec<Part>) -> Result<Vec<Point>, Error> {
    let texts: Vec<String> = parts.iter_mut().map(|it| std::mem::take(&mut it.text)).collect();
    let embedding = info_span!("embed", texts = texts.len());
    let vectors = backends.embedder.embed(&texts).instrument(embedding).await?;
    if vectors.len() != parts.len() {
        return Err(Error::Vectors {
            texts: texts.len(),
            vectors: vectors.len(),
        });
    }
    Ok(parts
        .into_iter()
        .zip(vectors)
        .map(|(part, vector)| part.point(vector))
        .collect())
}

/// Settles a batch whose space was deleted while it waited, and takes back what was put before that was noticed.
async fn gone(backends: &Backends, space: &SpaceId, error: Error) -> Result<(), Error> {
    if backends.records.space(space).await?.is_some() {
        return Err(error);
    }
    debug!(%space, "space is gone, batch dropped");
    backends.index.erase(space).await?;
    Ok(())
}
