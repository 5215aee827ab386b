//! The order of former and new turns when both are merged.

/// Where a turn of a merged list comes from.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The place that it had.
    Former(u32),
    /// The number of a new turn.
    New(u32),
}

/// Returns the values of former and new turns in an order.
pub(super) fn merge_column<T: Copy>(former: &[T], new: &[T], order: &[Origin]) -> Vec<T> {
    let value = |it: &Origin| match it {
        Origin::Former(at) => former[*at as usize],
        Origin::New(number) => new[*number as usize],
    };
    order.iter().map(value).collect()
}
