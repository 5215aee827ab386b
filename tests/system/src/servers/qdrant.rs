//! A stand-in for a Qdrant server, inside the process of the test.
//!
//! Qdrant cannot be had from a package registry, so this speaks its protocol (with the server traits of the driver) and
//! computes by its documented rules: `state` and `held` hold collections and points, `vectors` takes them in and scores them,
//! `approximate` misses some where the server would, `filter` decides what matches, `points`, `collections` and `health` answer the
//! calls. It knows the calls and fields that Mnemic uses; whatever else is asked gets `Unimplemented`, so that nothing is silently
//! ignored. It refuses filters on fields without an index, as a collection in strict mode does. What it cannot show: the recall of
//! Qdrant's own graph, replication, files, speed.
//!
//! Like the server, it takes zero vectors as they are, returns equal scores in an order of its own, applies a call whose
//! answer gets lost, and knows nothing of the points that are not asked for.

mod approximate;
mod collections;
mod filter;
mod health;
mod held;
mod points;
mod service;
mod state;
mod vectors;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use adapters::qdrant::Options;
use anyhow::{Context, Result, bail};
use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::server::TcpIncoming;

use state::Shared;

/// Looks for its connections to end, a hundredth of a second apart.
const PATIENCE: u32 = 500;

/// A running stand-in; gone when dropped. It has threads of its own, so it outlives the runtime that started it.
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts a server that is open to all, or asks for a key.
    ///
    /// # Errors
    /// If it cannot listen.
    pub fn start(api_key: &str) -> Result<Server> {
        let mut server = Server {
            shared: Arc::new(Shared::new(api_key)),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            runtime: None,
        };
        server.back()?;
        Ok(server)
    }

    /// Options that reach it, with collections of that prefix; otherwise those of a user.
    pub fn options(&self, prefix: &str) -> Options {
        Options {
            url: format!("http://{}", self.address),
            prefix: prefix.to_owned(),
            ..Options::default()
        }
    }

    /// Stops listening and drops all connections, as a crash does; what is stored stays.
    ///
    /// # Errors
    /// If it still listens after all patience.
    pub async fn away(&mut self) -> Result<()> {
        self.stop();
        for _ in 0..PATIENCE {
            if TcpStream::connect(self.address).is_err() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bail!("{} still listens", self.address)
    }

    /// Listens again where it did.
    ///
    /// # Errors
    /// If it cannot.
    pub fn back(&mut self) -> Result<()> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().thread_name("qdrant").build()?;
        let entered = runtime.enter();
        let listener = std::net::TcpListener::bind(self.address).context("listening")?;
        listener.set_nonblocking(true)?;
        self.address = listener.local_addr()?;
        let incoming = TcpIncoming::from(TcpListener::from_std(listener)?).with_nodelay(Some(true));
        drop(entered);
        let routes = tonic::transport::Server::builder()
            .add_service(QdrantServer::from_arc(Arc::clone(&self.shared)))
            .add_service(CollectionsServer::from_arc(Arc::clone(&self.shared)))
            .add_service(PointsServer::from_arc(Arc::clone(&self.shared)).max_decoding_message_size(usize::MAX));
        runtime.spawn(routes.serve_with_incoming(incoming));
        self.runtime = Some(runtime);
        Ok(())
    }

    /// Waits so long before it looks at a call; zero for not at all.
    pub fn delay(&self, time: Duration) {
        self.shared.delay(time);
    }

    /// Applies the next writes, that many, and then answers each as if it had failed.
    pub fn lose_answers(&self, calls: u32) {
        self.shared.lose_answers(calls);
    }

    /// Number of calls so far, to collections and points.
    pub fn calls(&self) -> u64 {
        self.shared.calls()
    }

    /// Time spent on the calls so far, without the way there and back.
    pub fn busy(&self) -> Duration {
        self.shared.busy()
    }

    /// Says that it is of that version.
    pub fn pretend(&self, version: &str) {
        version.clone_into(&mut self.shared.version());
    }

    fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
