//! A TLS server with a self-signed certificate.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// Certificate of 127.0.0.1, valid until the year 2126.
const CERTIFICATE: &[u8] = include_bytes!("../../data/tls/untrusted.cert.der");
const KEY: &[u8] = include_bytes!("../../data/tls/untrusted.key.der");

/// The server; its thread runs until the process ends.
pub struct Untrusted {
    /// URL of the API including its version `/v1`.
    pub url: String,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    handshakes: AtomicUsize,
    requests: AtomicUsize,
}

impl Untrusted {
    /// Starts the server.
    ///
    /// # Errors
    /// If no port is free or the certificate cannot be used.
    pub fn start() -> anyhow::Result<Untrusted> {
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("https://{}/v1", listener.local_addr()?);
        let counts = Arc::<Counts>::default();
        let of_thread = Arc::clone(&counts);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve_connection(stream, &config, &of_thread);
            }
        });
        Ok(Untrusted { url, counts })
    }

    /// Returns the number of connections that began a TLS handshake.
    pub fn handshakes(&self) -> usize {
        self.counts.handshakes.load(Ordering::SeqCst)
    }

    /// Returns the number of connections over which data arrived after the handshake.
    pub fn requests(&self) -> usize {
        self.counts.requests.load(Ordering::SeqCst)
    }
}

fn serve_connection(mut stream: TcpStream, config: &Arc<ServerConfig>, counts: &Counts) {
    let Ok(mut connection) = ServerConnection::new(Arc::clone(config)) else {
        return;
    };
    counts.handshakes.fetch_add(1, Ordering::SeqCst);
    let mut byte = [0];
    // The read succeeds only after the handshake, and a client that does not trust the server aborts the handshake.
    if Stream::new(&mut connection, &mut stream)
        .read(&mut byte)
        .is_ok_and(|it| it > 0)
    {
        counts.requests.fetch_add(1, Ordering::SeqCst);
    }
}
