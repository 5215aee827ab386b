//! Erases a session.

use std::collections::BTreeSet;

use domain::id::{RecordId, SpaceId};
use domain::port::{Room, Selection};

use crate::api::Erased;
use crate::api::problem::Problem;
use crate::app::state::App;
use crate::app::watermark;
use crate::use_cases::lists::list_page::PAGE_BYTES_MAX;
use crate::use_cases::lists::record_selection::resolve_session;
use crate::use_cases::recall::recall_ledger;
use crate::use_cases::write::curate;

/// Erases a session with the name `name`: its recall history at once, and at most one batch of its records, because a
/// watermark covers one batch. The next request erases the rest, also after a request that failed.
pub(crate) async fn erase_session(app: &App, space: &SpaceId, name: &str, by: &str) -> Result<Erased, Problem> {
    let session = resolve_session(app, space, name).await?;
    let of = Selection {
        session: Some(session),
        ..Selection::default()
    };
    let room = Room {
        items: ERASED_MAX,
        bytes: PAGE_BYTES_MAX,
    };
    let (found, next) = app.stores().records.select(space, &of, 0, room).await?;
    // First, because the name cannot be found after its records are erased.
    let mut names = BTreeSet::from([name.to_owned(), session.to_string()]);
    names.extend(found.first().map(|it| it.session_name.clone()));
    for it in &names {
        recall_ledger::erase_session_hints(app, space, it).await?;
    }
    if found.is_empty() {
        return Err(Problem::not_found(format!(
            "the session has no records; if they were accepted just now, wait for their watermark (GET /v1/spaces/{space}/progress)"
        )));
    }
    let records: Vec<RecordId> = found.iter().map(|it| it.id).collect();
    let erasing = curate::erase_records(app, space, &records, by).await?;
    Ok(Erased {
        watermark: watermark::from_position(app, space, erasing.position).await?,
        session,
        records: records.len() as u64,
        more: next.is_some(),
        erasure: erasing.erasure,
    })
}

/// Maximum number of records that one request erases; equal to the limit of a batch.
const ERASED_MAX: usize = 1_000;
