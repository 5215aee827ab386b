//! The open connections: their owners, and the choice of a connection to close for a new one.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The prefix of an IPv6 address that a network assigns to one caller.
const NETWORK: u128 = !0 << 64;

/// The open connections of a listener.
#[derive(Clone, Default)]
pub(super) struct ConnectionTable(Arc<TableState>);

#[derive(Default)]
struct TableState {
    rows: Mutex<Rows>,
    changed: Notify,
}

#[derive(Default)]
struct Rows {
    last: u64,
    /// In the order of their arrival or their last response.
    open: BTreeMap<u64, Row>,
}

struct Row {
    address: IpAddr,
    standing: Standing,
    close: Arc<Notify>,
}

/// State of a connection. Earlier variants are closed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// The client has not sent a request yet.
    Silent,
    /// The client got a response and may send another request.
    Answered,
    /// A request is in progress.
    Busy,
}

/// A connection in the table; removed on drop.
pub(super) struct Entry {
    table: ConnectionTable,
    at: Mutex<u64>,
    close: Arc<Notify>,
    /// True until the client sends a request.
    silent: AtomicBool,
    /// True while a request is in progress, even if the connection was already removed from the table.
    busy: AtomicBool,
}

impl ConnectionTable {
    /// Adds a connection from `address`. If the address already has `most` connections, closes one of them. Returns
    /// `None` if each of them has a request in progress.
    pub(super) fn add_connection(&self, address: IpAddr, most: usize) -> Option<Arc<Entry>> {
        let address = network_of_address(address);
        let mut rows = self.lock_rows();
        if rows.open.values().filter(|it| it.address == address).count() >= most && !rows.close_one(Some(address)) {
            return None;
        }
        let close = Arc::new(Notify::new());
        let at = rows.add_row(Row {
            address,
            standing: Standing::Silent,
            close: Arc::clone(&close),
        });
        Some(Arc::new(Entry {
            table: self.clone(),
            at: Mutex::new(at),
            close,
            silent: AtomicBool::new(true),
            busy: AtomicBool::new(false),
        }))
    }

    /// Closes one connection without a request, of the address with the most connections; returns false if there is
    /// none.
    pub(super) fn make_room(&self) -> bool {
        self.lock_rows().close_one(None)
    }

    /// Waits until a connection has become idle and may be closed.
    pub(super) async fn wait_for_idle_connection(&self) {
        self.0.changed.notified().await;
    }

    fn lock_rows(&self) -> MutexGuard<'_, Rows> {
        self.0.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn add_row(&mut self, row: Row) -> u64 {
        self.last += 1;
        self.open.insert(self.last, row);
        self.last
    }

    fn close_one(&mut self, address: Option<IpAddr>) -> bool {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for row in self.open.values() {
            *counts.entry(row.address).or_default() += 1;
        }
        let share = |row: &Row| usize::MAX - counts.get(&row.address).copied().unwrap_or(0);
        let spared = self
            .open
            .iter()
            .filter(|(_, it)| it.standing != Standing::Busy && address.is_none_or(|of| it.address == of))
            .min_by_key(|(at, it)| (it.standing, share(it), **at))
            .map(|(at, _)| *at);
        let Some(row) = spared.and_then(|at| self.open.remove(&at)) else {
            return false;
        };
        row.close.notify_one();
        true
    }
}

impl Entry {
    /// Notes that a request is in progress.
    pub(super) fn begin_request(&self) {
        self.silent.store(false, Ordering::Relaxed);
        self.busy.store(true, Ordering::Relaxed);
        let at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = self.table.lock_rows().open.get_mut(&at) {
            row.standing = Standing::Busy;
        }
    }

    /// Notes that the request has its response.
    pub(super) fn end_request(&self) {
        self.busy.store(false, Ordering::Relaxed);
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = self.table.lock_rows();
        if let Some(mut row) = rows.open.remove(&at) {
            row.standing = Standing::Answered;
            *at = rows.add_row(row);
        }
        drop(rows);
        self.table.0.changed.notify_one();
    }

    /// Returns true if the connection has sent no request.
    pub(super) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// Returns true if a request is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Waits until the connection must be closed to make room for another one.
    pub(super) async fn wait_for_close(&self) {
        self.close.notified().await;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let at = self.at.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.table.lock_rows().open.remove(at);
    }
}

fn network_of_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(it) if !it.is_loopback() => Ipv6Addr::from_bits(it.to_bits() & NETWORK).into(),
        it @ (IpAddr::V4(_) | IpAddr::V6(_)) => it,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn address_ending_in(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn is_closed(entry: &Entry) -> bool {
        entry.wait_for_close().now_or_never().is_some()
    }

    #[test]
    fn a_connection_without_a_request_is_closed_before_an_idle_one_and_busy_ones_are_kept() {
        let table = ConnectionTable::default();
        let open: Vec<_> = (0..3)
            .map(|_| table.add_connection(address_ending_in(1), 3).unwrap())
            .collect();
        open[0].begin_request();
        open[1].begin_request();
        open[1].end_request();
        let fourth = table.add_connection(address_ending_in(1), 3).unwrap();
        assert!(is_closed(&open[2]) && !is_closed(&open[1]));
        fourth.begin_request();
        let fifth = table.add_connection(address_ending_in(1), 3).unwrap();
        assert!(is_closed(&open[1]));
        fifth.begin_request();
        assert!(table.add_connection(address_ending_in(1), 3).is_none());
        assert!(table.add_connection(address_ending_in(2), 3).is_some());
        drop(fifth);
        assert!(table.add_connection(address_ending_in(1), 3).is_some());
    }

    #[test]
    fn the_address_with_the_most_connections_loses_one() {
        let table = ConnectionTable::default();
        let quiet = table.add_connection(address_ending_in(1), 9).unwrap();
        let many: Vec<_> = (0..3)
            .map(|_| table.add_connection(address_ending_in(2), 9).unwrap())
            .collect();
        assert!(table.make_room());
        assert!(is_closed(&many[0]) && !is_closed(&quiet));
    }

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let table = ConnectionTable::default();
        let [first, second, other] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(|it| it.parse().unwrap());
        let connection = table.add_connection(first, 1).unwrap();
        connection.begin_request();
        assert!(table.add_connection(second, 1).is_none());
        assert!(table.add_connection(other, 1).is_some());
    }
}
