//! Lets the work on one space happen one after another, and that on different spaces at the same time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use domain::id::SpaceId;
use tokio::sync::OwnedMutexGuard;

/// A gate of one space.
type Gate = tokio::sync::Mutex<()>;

/// The gates of the spaces that are worked on. A gate exists while somebody is inside or waits.
#[derive(Default)]
pub(crate) struct SpaceGates(Mutex<HashMap<SpaceId, Weak<Gate>>>);

impl SpaceGates {
    /// Waits until no other call holds the gate of a space, in the order of the calls. The gate opens again when the
    /// result is dropped.
    pub(crate) async fn enter(&self, space: &SpaceId) -> OwnedMutexGuard<()> {
        self.gate_of(space).lock_owned().await
    }

    fn gate_of(&self, space: &SpaceId) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(space).and_then(Weak::upgrade) {
            return gate;
        }
        // Only as many are left as there are messages in flight.
        gates.retain(|_, it| it.strong_count() > 0);
        let gate = Arc::new(Gate::default());
        gates.insert(space.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn space(number: usize) -> SpaceId {
        format!("s{number}").parse().unwrap()
    }

    #[test]
    fn each_space_waits_only_for_itself_and_in_order() {
        let gates = SpaceGates::default();
        let inside: Vec<_> = (0..100).map(|it| gates.enter(&space(it)).now_or_never()).collect();
        assert!(inside.iter().all(Option::is_some), "no space waits for another");
        let of_seven = space(7);
        let mut second = Box::pin(gates.enter(&of_seven));
        let mut third = Box::pin(gates.enter(&of_seven));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        drop(inside);
        assert!((&mut third).now_or_never().is_none(), "the second comes first");
        let entered = second.now_or_never();
        assert!(entered.is_some());
        drop(entered);
        assert!(third.now_or_never().is_some());
        assert!(gates.enter(&space(1)).now_or_never().is_some());
        assert_eq!(gates.0.lock().unwrap().len(), 1, "no unused gate is kept");
    }
}
