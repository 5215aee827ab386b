//! Servers for tests, each with its own folder and port, stopped when dropped.

pub mod chat;
pub mod embeddings;
mod http;
pub mod jaeger;
pub mod llama;
pub mod nats;
pub mod neo4j;
pub mod qdrant;
#[cfg(feature = "https")]
pub mod untrusted;

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a port on which no program listens. It is never one of the ports that the system gives to outgoing
/// connections, because such a connection could take it while a server is down. In this process the same port is never
/// returned twice.
///
/// # Panics
/// If no port is free.
pub fn free_port() -> u16 {
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(97);
    let free = (0..COUNT).find_map(|_| {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst));
        let port = u16::try_from(FIRST + number % COUNT).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok().then_some(port)
    });
    let Some(port) = free else { panic!("no port is free") };
    port
}
