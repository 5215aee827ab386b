use gateway::api::{ApiKey, ApiKeyToken};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Client, Result, read};

impl Client {
    /// Creates a key on the server.
    pub(crate) async fn create_key(&self, body: &Value) -> Result<ApiKeyToken> {
        let url = self.url(&["v1", "keys"], &[]);
        read(self.send(Method::POST, &url, Some(body)).await?).await
    }

    /// Returns the keys in the store of the server, by name.
    pub(crate) async fn keys(&self) -> Result<Vec<ApiKey>> {
        self.all(&["v1", "keys"]).await
    }

    /// Gives a key a new token.
    pub(crate) async fn rotate_key(&self, name: &str, grace_seconds: u32) -> Result<ApiKeyToken> {
        let url = self.url(&["v1", "keys", name, "rotate"], &[]);
        let body = json!({ "grace_seconds": grace_seconds });
        read(self.send(Method::POST, &url, Some(&body)).await?).await
    }

    /// Revokes a key.
    pub(crate) async fn revoke_key(&self, name: &str) -> Result<()> {
        let url = self.url(&["v1", "keys", name], &[]);
        self.send(Method::DELETE, &url, None).await.map(|_| ())
    }
}
