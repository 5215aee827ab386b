//! Deletions of spaces that some store has not carried out yet: the gateway goes on with them by itself once the store is back.
//!
//! The records note a deletion in the same step that carries it out, so a deletion survives whatever ends the process in between.
//! Every gateway works on all notes; to do the same work twice changes nothing.

pub(crate) mod check;

use std::time::Duration;

use domain::PortError;
use domain::erasure::{Erased, ErasureKind, Receipt};
use domain::id::{ErasureId, SpaceId};
use domain::port::{Position, SpaceInfo, UnfinishedErasure};
use host::{Context, clock};
use tokio::time::sleep;
use tracing::{info, warn};

use crate::state::App;

/// Erasures worked on in one round.
const AT_ONCE: usize = 1_000;
/// Pause between two rounds while an erasure is unfinished, and while there is none: another gateway may have begun one.
const PAUSE: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(30);
/// Position in the receipt of the erasure of a space, which is no accepted batch.
const OF_A_SPACE: Position = Position(0);

/// Finishes erasures until shutdown.
pub(crate) async fn finish_all(app: App) {
    let shutdown = app.context.shutdown.clone();
    let rounds = async {
        loop {
            let pause = match round(&app.context).await {
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

/// Goes on with every unfinished erasure; returns how many are unfinished afterwards.
async fn round(ctx: &Context) -> Result<usize, PortError> {
    let mut left = 0;
    for erasure in ctx.backends.records.unfinished_erasures(None, AT_ONCE).await? {
        let space = &erasure.space;
        match finish(ctx, &erasure).await {
            Ok(()) => info!(%space, "the erasure of a deleted space is finished"),
            Err(error) => {
                left += 1;
                warn!(%space, error = &error as &dyn std::error::Error, "a deleted space is not erased in every store yet");
            }
        }
    }
    Ok(left)
}

/// Removes what the index still holds of a deleted space, and then the note that its erasure is unfinished. A space that was
/// created under the name since is left as it is. What waits on the bus is no part of this: the writer drops messages of a space
/// that is gone.
///
/// # Errors
/// Those of the stores; the note stays then.
pub async fn finish(ctx: &Context, erasure: &UnfinishedErasure) -> Result<(), PortError> {
    ctx.backends.index.erase_deleted(erasure).await?;
    ctx.backends.records.finish_erasure(erasure).await?;
    let receipts = &ctx.backends.receipts;
    receipts.complete(&erasure.space, OF_A_SPACE, clock::now()).await
}

/// Keeps the receipt of an erasure of a whole space that is about to begin, asked for by the key `by`; returns its id. A receipt of
/// an attempt before stays.
pub(crate) async fn keep_receipt(app: &App, info: &SpaceInfo, by: &str) -> Result<ErasureId, PortError> {
    let stores = app.stores();
    let id = ErasureId::of_space(&info.space, &info.created_at.to_rfc3339());
    let all = Erased::Space {
        created_at: info.created_at,
    };
    let mut erased = stores.receipts.remnants(&info.space, &all).await?;
    // The index may be away; its points go all the same, and later.
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
    stores.receipts.keep(&receipt).await?;
    Ok(id)
}

/// Returns the receipt, completed if it is that of a space whose erasure was finished by a process that ended before it noted that.
pub(crate) async fn completed(app: &App, mut receipt: Receipt) -> Result<Receipt, PortError> {
    if receipt.kind == ErasureKind::Space && receipt.completed_at.is_none() {
        let stores = app.stores();
        let open = stores.records.unfinished_erasures(Some(&receipt.space), 1).await?;
        let stored = stores.records.space(&receipt.space).await?;
        if open.is_empty() && stored.is_none_or(|it| it.created_at != receipt.created_at) {
            let at = clock::now();
            stores.receipts.complete(&receipt.space, receipt.position, at).await?;
            receipt.completed_at = Some(at);
        }
    }
    Ok(receipt)
}

/// Finishes the erasure of one space; returns true if there was one.
pub(crate) async fn finish_one(ctx: &Context, space: &SpaceId) -> Result<bool, PortError> {
    match ctx.backends.records.unfinished_erasures(Some(space), 1).await?.pop() {
        Some(erasure) => finish(ctx, &erasure).await.map(|()| true),
        None => Ok(false),
    }
}
