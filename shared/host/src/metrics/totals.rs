use domain::port::SpaceInfo;

use crate::Backends;

/// Spaces per page when counting totals, and maximum number of pages; every scrape reads them. The help text of the
/// metric names the product.
const SPACES_PAGE: usize = 1_000;
const SPACES_PAGES_MAX: usize = 20;

/// Returns the numbers of records and of active units in the first spaces by name, or `None` if a store does not
/// answer.
pub(super) async fn count_records_and_units(backends: &Backends) -> Option<(i64, i64)> {
    let (mut records, mut units) = (0_u64, 0_u64);
    let mut last: Option<SpaceInfo> = None;
    for _ in 0..SPACES_PAGES_MAX {
        let page = backends
            .records
            .spaces(last.as_ref().map(|it| &it.space), SPACES_PAGE)
            .await
            .ok()?;
        for info in &page {
            records += info.records;
            units += info.units;
        }
        if page.len() < SPACES_PAGE {
            break;
        }
        last = page.into_iter().last();
    }
    Some((i64::try_from(records).ok()?, i64::try_from(units).ok()?))
}
