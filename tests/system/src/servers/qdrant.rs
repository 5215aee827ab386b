//! A stand-in for a Qdrant server, inside the test process.
//!
//! No package registry has Qdrant, so this module speaks its protocol (with the server traits of the driver) and
//! computes by its documented rules:
//!
//! - `state` and `held` store collections and points.
//! - `vectors` accepts vectors and scores them; `approximate` misses some of them where the server would.
//! - `filter` decides which points match.
//! - `points`, `collections` and `health` answer the calls; `request_fields` rejects fields that are not known.
//!
//! It knows the calls and fields that Mnemic uses. It answers `Unimplemented` to everything else, so that nothing is
//! silently ignored. It rejects filters on fields without an index, as a collection in strict mode does. It cannot
//! show the recall of Qdrant's own graph, replication, files or speed.
//!
//! Like the server, it accepts zero vectors unchanged, returns equal scores in its own order, applies a call whose
//! answer gets lost, and does not report ids that do not exist.

mod approximate;
mod collections;
mod filter;
mod health;
mod held;
mod points;
mod request_fields;
mod service;
mod state;
mod vectors;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use adapters::servers::qdrant::Options;
use anyhow::{Context, Result, bail};
use fixtures::{WAIT_MAX, look_within};
use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tonic::transport::server::TcpIncoming;

use state::SharedState;

/// A running stand-in; stopped when dropped. It has its own threads, so it outlives the runtime that started it.
pub struct Server {
    shared: Arc<SharedState>,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Server {
    /// Starts a server. It requires the key, unless the key is empty.
    ///
    /// # Errors
    /// If it cannot listen.
    pub fn start(api_key: &str) -> Result<Server> {
        let mut server = Server {
            shared: Arc::new(SharedState::new(api_key)),
            // While it does not listen, no outgoing connection can take this port.
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, super::free_port())),
            runtime: None,
        };
        server.listen_again()?;
        Ok(server)
    }

    /// Returns the options of a client whose collections have this prefix; the other options are the defaults.
    pub fn options(&self, prefix: &str) -> Options {
        Options {
            url: format!("http://{}", self.address),
            prefix: prefix.to_owned(),
            ..Options::default()
        }
    }

    /// Stops listening and drops all connections, like a crash; its data stay.
    ///
    /// # Errors
    /// If it still listens after the longest wait.
    pub async fn stop_listening(&mut self) -> Result<()> {
        self.stop();
        let address = self.address;
        let look = async || match TcpStream::connect(address) {
            Ok(_) => Err(()),
            Err(_) => Ok(()),
        };
        if look_within(WAIT_MAX, look).await.is_err() {
            bail!("{address} still listens");
        }
        Ok(())
    }

    /// Listens again on the same address.
    ///
    /// # Errors
    /// If it cannot listen.
    pub fn listen_again(&mut self) -> Result<()> {
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

    /// Delays every call by `time`; zero means no delay.
    pub fn delay(&self, time: Duration) {
        self.shared.delay(time);
    }

    /// Applies the next `calls` writes, but answers each of them as if it had failed.
    pub fn lose_answers(&self, calls: u32) {
        self.shared.lose_answers(calls);
    }

    /// Returns the number of calls so far, to collections and points.
    pub fn calls(&self) -> u64 {
        self.shared.calls()
    }

    /// Returns the time spent on the calls so far, without network time.
    pub fn busy(&self) -> Duration {
        self.shared.busy()
    }

    /// Makes the server report this version.
    pub fn report_version(&self, version: &str) {
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
