//! Derives searchable turn units from accepted records.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{RecordId, SessionId, SpaceId, UnitId};
use domain::message::{RecordsAcceptedV1, UnitsWrittenV1};
use domain::port::{Point, SpaceInfo};
use domain::record::Record;
use domain::unit::Unit;
use domain::{Classify, ErrorKind, PortError};
use futures::future::try_join_all;
use host::{Backends, Context, Meta};
use tracing::{Instrument, debug, info_span};

use crate::erase::Around;
use crate::points::Part;
use crate::window::Place;
use crate::write::units_of;
use crate::{Error, erase, long_texts, points, reading_store, receipt, redact, window, write};

/// Number of sessions of one batch that are read concurrently.
const SESSIONS_AT_ONCE: usize = 8;

/// Consecutive records of a session, and the ids of those to write.
type Window = (Vec<Record>, BTreeSet<RecordId>);

/// Stores the records of a batch and their turn units, makes them searchable, applies the curations, marks the batch
/// as written and announces it. A batch with curations is marked by the clusterer, because the memory reflects them
/// only then.
///
/// A batch that is already marked is only announced; the bus stores the announcement once. If the space was deleted,
/// nothing is stored, even if a new space has the same name.
pub(crate) async fn accept(context: &Context, message: RecordsAcceptedV1, meta: Meta) -> Result<(), Error> {
    let backends = &context.backends;
    let space = message.space.clone();
    let acts = !message.curations.is_empty();
    let mut sessions: BTreeSet<SessionId> = message.records.iter().map(|it| it.session).collect();
    let mut units: Vec<UnitId> = message.records.iter().map(|it| UnitId::turn(it.id)).collect();
    let around = match written(backends, message, &meta).await {
        Ok(Some(around)) => around,
        Ok(None) => {
            debug!(%space, "another space has the name by now, batch dropped");
            return Ok(());
        }
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
        acts,
    };
    context.publish(&announcement).await?;
    Ok(())
}

/// Applies the batch unless that was done already, and returns what else has to be organised. Returns none if the
/// space was deleted and created again in the meantime.
async fn written(backends: &Backends, message: RecordsAcceptedV1, meta: &Meta) -> Result<Option<Around>, Error> {
    let RecordsAcceptedV1 {
        space,
        created,
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
        return Ok(Some(around));
    }
    let before = known(backends, &space).await?;
    if created.is_some_and(|it| it != before.created_at) {
        return Ok(None);
    }
    // Curations from now on are noticed after the records were stored.
    if before.revision.curations > 0 {
        let revoked = erase::revoked(backends, &space, &records).await?;
        records.retain(|it| !revoked.contains(&it.id));
    }
    if !records.is_empty() && !store(backends, &before, records).await? {
        return Ok(None);
    }
    if !curations.is_empty() {
        let records = &backends.records;
        records.put_curations(&space, meta.position, &curations).await?;
        redact::late(backends, &space, &curations).await?;
    }
    receipt::keep(backends, &before, meta.position, &curations).await?;
    let around = erased_with_parts(backends, &space, &erased)
        .instrument(info_span!("erase", records = erased.len()))
        .await?;
    if curations.is_empty() {
        backends.records.mark_written(&space, meta.position).await?;
    }
    Ok(Some(around))
}

/// Erases records with all their units, and returns what else has to be organised.
async fn erased_with_parts(
    backends: &Backends,
    space: &SpaceId,
    records: &BTreeSet<RecordId>,
) -> Result<Around, PortError> {
    if records.is_empty() {
        return Ok(Around::default());
    }
    let further = long_texts::redacted(backends, space, records).await?;
    let around = erase::erase(backends, space, records).await?;
    if !further.is_empty() {
        erase::retire(backends, space, &further).await?;
    }
    Ok(around)
}

async fn known(backends: &Backends, space: &SpaceId) -> Result<SpaceInfo, PortError> {
    let missing = || PortError::new("accept", ErrorKind::NotFound, "the space is gone");
    backends.records.space(space).await?.ok_or_else(missing)
}

/// Stores records and their turn units in the space described by `before`. Returns false if another space has its
/// name by now; none of the records is left in it then.
async fn store(backends: &Backends, before: &SpaceInfo, mut records: Vec<Record>) -> Result<bool, Error> {
    let space = &before.space;
    let put = info_span!("records.put", records = records.len());
    backends.records.put(space, &records).instrument(put).await?;
    let now = known(backends, space).await?;
    if now.created_at == before.created_at {
        if now.revision.curations > 0 {
            // An erasure may have run between the first look and the put, which then restored its record. Its
            // curation may be older than the first look, so the number of curations may be the same.
            let revoked = erase::revoked(backends, space, &records).await?;
            records.retain(|it| !revoked.contains(&it.id));
            let revoked: Vec<RecordId> = revoked.into_iter().collect();
            backends.records.erase(space, &revoked).await?;
        }
        put_units(backends, space, &records).await?;
        reading_store::put_in_index_again(backends, space, &records).await?;
        if known(backends, space).await?.created_at == before.created_at {
            return Ok(true);
        }
    }
    take_back(backends, space, &records).await?;
    Ok(false)
}

/// Removes records from a space that never accepted them, with everything derived from them. A record that the space
/// itself accepted under the same id stays, and its units are derived again.
async fn take_back(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    let accepted = backends.records.claimed(space, &ids).await?;
    let free: Vec<RecordId> = ids.iter().copied().filter(|it| !accepted.contains(it)).collect();
    backends.records.erase(space, &free).await?;
    let mut units = long_texts::further_units(backends, space, ids.iter().copied()).await?;
    units.extend(ids.iter().map(|it| UnitId::turn(*it)));
    erase::retire(backends, space, &units).await?;
    let own = backends.records.get(space, &ids).await?;
    put_units(backends, space, &own).await
}

/// Derives the turn units of stored records and makes them searchable.
async fn put_units(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    put_over(backends, space, records, &[]).await
}

/// Derives the turn units of stored records again; they may have fewer points than before.
pub(crate) async fn replace_units(backends: &Backends, space: &SpaceId, records: &[Record]) -> Result<(), Error> {
    let units: Vec<UnitId> = records.iter().flat_map(units_of).collect();
    put_over(backends, space, records, &units).await
}

/// Derives the turn units of stored records, makes them searchable, and deletes points of other `former` units.
async fn put_over(backends: &Backends, space: &SpaceId, records: &[Record], former: &[UnitId]) -> Result<(), Error> {
    let windows = windows(backends, space, records).await?;
    let rules = info_span!("rules");
    let (units, parts) = host::background(move || rules.in_scope(|| derive(&windows))).await?;
    let points = embed(backends, parts).await?;
    let (graph, index) = (&backends.graph, &backends.index);
    tokio::try_join!(
        graph
            .put_units(space, &units, &[])
            .instrument(info_span!("graph.put_units", units = units.len())),
        index
            .put(space, &points, former)
            .instrument(info_span!("index.put", points = points.len())),
    )?;
    let ids: Vec<RecordId> = records.iter().map(|it| it.id).collect();
    erase::recalled(backends, space, &ids).await?;
    Ok(long_texts::retire_orphaned(backends, space, records).await?)
}

/// Returns stretches of sessions, with the ids of the records to write in each.
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

pub(crate) async fn embed(backends: &Backends, mut parts: Vec<Part>) -> Result<Vec<Point>, Error> {
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

/// Settles a batch whose space was deleted while it waited, and deletes points that were already stored for it.
async fn gone(backends: &Backends, space: &SpaceId, error: Error) -> Result<(), Error> {
    if backends.records.space(space).await?.is_some() {
        return Err(error);
    }
    debug!(%space, "space is gone, batch dropped");
    backends.index.erase(space).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use domain::curation::{Act, Curation};
    use domain::id::CurationId;
    use domain::port::{Claim, Position};
    use domain::record::Modality;
    use domain::unit::Status;

    use super::*;

    fn space() -> SpaceId {
        "s".parse().unwrap()
    }

    fn record(id: &str, text: &str) -> Record {
        Record {
            id: RecordId::derive(&space(), id),
            space: space(),
            external_id: id.to_owned(),
            session: SessionId::derive(&space(), "talk"),
            session_name: "talk".to_owned(),
            ordinal: 0,
            modality: Modality::Text,
            actor: "Ana".to_owned(),
            text: text.to_owned(),
            image_caption: None,
            image_uri: None,
            version: None,
            tool: None,
            observed_at: DateTime::UNIX_EPOCH.fixed_offset(),
            tags: Vec::new(),
            metadata: Default::default(),
        }
    }

    /// Runs a test with separate stores that contain the space; deletes their folder at the end.
    async fn with_stores(name: &str, test: impl AsyncFnOnce(&Backends)) {
        let dir = std::env::temp_dir().join(format!("mnemic-accept-{name}-{}", std::process::id()));
        let context = Context::embedded(&dir).await.unwrap();
        let made = context
            .backends
            .records
            .create_space(&space(), DateTime::UNIX_EPOCH)
            .await;
        assert!(made.unwrap());
        test(&context.backends).await;
        drop(context);
        std::fs::remove_dir_all(&dir).ok();
    }

    /// Returns the texts of the active turn units of records.
    async fn texts(backends: &Backends, records: &[&Record]) -> Vec<String> {
        let ids: Vec<UnitId> = records.iter().map(|it| UnitId::turn(it.id)).collect();
        let units = backends.graph.units(&space(), &ids).await.unwrap();
        let used = units.into_iter().filter(|it| it.status == Status::Active);
        used.map(|it| it.text).collect()
    }

    /// Erases a record between the first look and the put of its batch; the first look sees the act if `is_act_seen`.
    async fn erased_between_look_and_put(name: &str, is_act_seen: bool) {
        with_stores(name, async |backends| {
            let (gone, kept) = (record("1", "The quaxbank has it."), record("2", "I water the fern."));
            let claims = [(gone.id, [1; 32]), (kept.id, [2; 32])];
            backends.records.claim(&space(), &claims).await.unwrap();
            let before = known(backends, &space()).await.unwrap();
            let act = Curation {
                id: CurationId::derive(&space(), "1"),
                at: DateTime::UNIX_EPOCH,
                by: String::new(),
                act: Act::EraseRecord { record: gone.id },
                reason: String::new(),
            };
            backends
                .records
                .put_curations(&space(), Position(1), &[act])
                .await
                .unwrap();
            let behind = known(backends, &space()).await.unwrap();
            let before = if is_act_seen { behind } else { before };
            backends.records.erase(&space(), &[gone.id]).await.unwrap();

            let all = vec![gone.clone(), kept.clone()];
            assert!(store(backends, &before, all).await.unwrap());
            let stored = backends.records.get(&space(), &[gone.id, kept.id]).await.unwrap();
            assert_eq!(stored, std::slice::from_ref(&kept));
            assert_eq!(texts(backends, &[&gone, &kept]).await, ["I water the fern."]);
        })
        .await;
    }

    #[tokio::test]
    async fn an_erasure_between_the_first_look_and_the_put_takes_effect() {
        erased_between_look_and_put("erasure", false).await;
    }

    #[tokio::test]
    async fn an_erasure_whose_curation_precedes_the_first_look_takes_effect() {
        erased_between_look_and_put("seen", true).await;
    }

    #[tokio::test]
    async fn records_of_a_deleted_space_are_not_in_the_next_one_of_its_name() {
        with_stores("next", async |backends| {
            let (old, same) = (
                record("1", "The quaxbank has it."),
                record("2", "The quaxbank is shut."),
            );
            let before = known(backends, &space()).await.unwrap();
            assert!(backends.records.delete_space(&space()).await.unwrap());
            let later = DateTime::UNIX_EPOCH + TimeDelta::seconds(1);
            backends.records.create_space(&space(), later).await.unwrap();
            let own = record("2", "I water the fern.");
            backends.records.claim(&space(), &[(own.id, [7; 32])]).await.unwrap();
            let now = known(backends, &space()).await.unwrap();
            assert!(store(backends, &now, vec![own.clone()]).await.unwrap());

            let all = vec![old.clone(), same.clone()];
            assert!(!store(backends, &before, all).await.unwrap());
            let stored = backends.records.get(&space(), &[old.id, same.id]).await.unwrap();
            assert_eq!(stored, std::slice::from_ref(&own));
            assert_eq!(texts(backends, &[&old, &same]).await, ["I water the fern."]);
            let claim = [(old.id, [9; 32]), (own.id, [7; 32])];
            let claims = backends.records.claim(&space(), &claim).await.unwrap();
            assert_eq!(claims, [Claim::Fresh, Claim::Same]);
        })
        .await;
    }
}
