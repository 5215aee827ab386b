//! Deletions of spaces that are not complete in every store. The gateway continues them automatically when the stores
//! are available.
//!
//! The record store notes a deletion in the same transaction that performs it, so the note survives a crash in between.
//! Every gateway works on all notes; doing the same work twice has no effect.

pub(crate) mod store_search;

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::PortError;
use domain::erasure::{Erased, ErasureKind, Receipt};
use domain::id::{ErasureId, SpaceId};
use domain::port::{Position, SpaceInfo, UnfinishedErasure};
use host::{Context, clock};
use tokio::time::sleep;
use tracing::{info, warn};

use crate::app::state::App;

/// Maximum number of erasures in one round.
const AT_ONCE: usize = 1_000;
/// Pause between two rounds. It applies also when no erasure is unfinished, because another gateway may have started
/// one.
const PAUSE: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(30);
/// Position in the receipt of the erasure of a space; it is not the position of an accepted batch.
const OF_A_SPACE: Position = Position(0);

/// Continues unfinished erasures until shutdown.
pub(crate) async fn finish_all(app: App) {
    let shutdown = app.context.shutdown.clone();
    let rounds = async {
        loop {
            let pause = match continue_unfinished_erasures(&app.context).await {
                Ok(0) => REST,
                Ok(_) => PAUSE,
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "unfinished erasures cannot be listed"
                    );
                    PAUSE
                }
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = app.unfinished.notified() => {}
            }
        }
    };
    shutdown.run_until_cancelled(rounds).await;
}

/// Continues every unfinished erasure; returns how many are still unfinished.
async fn continue_unfinished_erasures(ctx: &Context) -> Result<usize, PortError> {
    let mut unfinished = 0;
    for erasure in ctx.backends.records.unfinished_erasures(None, AT_ONCE).await? {
        let space = &erasure.space;
        match finish_erasure(ctx, &erasure).await {
            Ok(()) => info!(%space, "the erasure of a deleted space is finished"),
            Err(error) => {
                unfinished += 1;
                warn!(%space, error = &error as &dyn std::error::Error, "a deleted space is not erased in every store yet");
            }
        }
    }
    Ok(unfinished)
}

/// Removes the data of a deleted space from the index and the record store, and then the note that its erasure is
/// unfinished. If the index fails, the data are removed from the record store, and the note stays. A space that was
/// created under the same name since then stays as it is. Queued messages on the bus are not removed here: the writer
/// drops messages of a deleted space.
///
/// # Errors
/// Errors of the stores; if both fail, the error of the index. The note then stays.
pub async fn finish_erasure(ctx: &Context, erasure: &UnfinishedErasure) -> Result<(), PortError> {
    let records = &ctx.backends.records;
    if let Err(error) = ctx.backends.index.erase_deleted(erasure).await {
        // The note must stay. For an earlier time, the record store completes the deletion, but keeps the note of a
        // later space.
        let earlier = UnfinishedErasure {
            space: erasure.space.clone(),
            created_at: DateTime::<Utc>::MIN_UTC,
        };
        if let Err(error) = records.finish_erasure(&earlier).await {
            let space = &erasure.space;
            warn!(%space, error = &error as &dyn std::error::Error, "records of a deleted space are not erased yet");
        }
        return Err(error);
    }
    records.finish_erasure(erasure).await?;
    let receipts = &ctx.backends.receipts;
    let id = ErasureId::of_space(&erasure.space, &erasure.created_at.to_rfc3339());
    receipts.complete_one(&erasure.space, id, clock::now()).await
}

/// Stores the receipt of an erasure of a whole space before it begins, requested by the key `by`; returns its id. The
/// receipt of an earlier attempt stays.
pub(crate) async fn keep_receipt(app: &App, info: &SpaceInfo, by: &str) -> Result<ErasureId, PortError> {
    let stores = app.stores();
    let id = ErasureId::of_space(&info.space, &info.created_at.to_rfc3339());
    let all = Erased::Space {
        created_at: info.created_at,
    };
    let mut erased = stores.receipts.count_remaining_data(&info.space, &all).await?;
    // The index may be unavailable. Its points are erased later in any case.
    if let Ok(points) = stores.index.count(&info.space).await {
        erased.insert("points".to_owned(), points);
    }
    erased.retain(|_, count| *count > 0);
    let receipt = Receipt {
        id,
        space: info.space.clone(),
        created_at: info.created_at,
        kind: ErasureKind::Space,
        by: by.to_owned(),
        requested_at: clock::now(),
        completed_at: None,
        position: OF_A_SPACE,
        records: Vec::new(),
        sessions: Vec::new(),
        erased,
    };
    stores.receipts.put_receipt(&receipt).await?;
    Ok(id)
}

/// Returns the receipt. If its space is deleted and erased in every store, the receipt is completed: another process
/// may have finished the erasure of the space and ended before it updated the receipt, and the clusterer never
/// completes a receipt of records whose space is deleted.
pub(crate) async fn complete_receipt(app: &App, mut receipt: Receipt) -> Result<Receipt, PortError> {
    if receipt.completed_at.is_none() {
        let stores = app.stores();
        let open = stores.records.unfinished_erasures(Some(&receipt.space), 1).await?;
        let stored = stores.records.space(&receipt.space).await?;
        if open.is_empty() && stored.is_none_or(|it| it.created_at != receipt.created_at) {
            let at = clock::now();
            stores.receipts.complete_one(&receipt.space, receipt.id, at).await?;
            receipt.completed_at = Some(at);
        }
    }
    Ok(receipt)
}

/// Finishes the erasure of a deleted space. Returns false if there was nothing to finish.
pub(crate) async fn finish_erasure_of_space(ctx: &Context, space: &SpaceId) -> Result<bool, PortError> {
    match ctx.backends.records.unfinished_erasures(Some(space), 1).await?.pop() {
        Some(erasure) => finish_erasure(ctx, &erasure).await.map(|()| true),
        None => Ok(false),
    }
}
