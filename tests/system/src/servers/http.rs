use axum::Router;
use axum::http::{HeaderMap, header};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A server of routes on a free port; gone when dropped.
pub(super) struct Http {
    /// Where its version `/v1` begins.
    pub(super) url: String,
    work: JoinHandle<()>,
}

impl Http {
    /// # Errors
    /// No port.
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

/// Says whether a request carries a key.
pub(super) fn knows(headers: &HeaderMap, key: &str) -> bool {
    let sent = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    sent == Some(&format!("Bearer {key}"))
}
