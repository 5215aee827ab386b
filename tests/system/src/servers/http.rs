use axum::Router;
use axum::http::{HeaderMap, header};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// An HTTP server of routes on a free port; stopped when dropped.
pub(super) struct Http {
    /// URL of the API including its version `/v1`.
    pub(super) url: String,
    work: JoinHandle<()>,
}

impl Http {
    /// Starts a server.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) async fn start(routes: Router) -> anyhow::Result<Http> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let work = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, routes).await {
                eprintln!("a server of a test: {error}");
            }
        });
        Ok(Http { url, work })
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Returns true if a request carries the key.
pub(super) fn has_key(headers: &HeaderMap, key: &str) -> bool {
    let sent = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    sent == Some(&format!("Bearer {key}"))
}
