use gateway::api::{ApiKey, ApiKeyToken};
use reqwest::Method;
use serde_json::{Value, json};

use super::responses::read_json_body;
use super::{Client, Result};

impl Client {
    /// Creates a key on the server.
    pub(crate) async fn create_key(&self, body: &Value) -> Result<ApiKeyToken> {
        let url = self.url_of_path(&["v1", "keys"], &[]);
        read_json_body(self.send_request(Method::POST, &url, Some(body)).await?).await
    }

    /// Returns the keys in the store of the server, by name.
    pub(crate) async fn list_keys(&self) -> Result<Vec<ApiKey>> {
        self.list_all_items(&["v1", "keys"]).await
    }

    /// Gives a key a new token.
    pub(crate) async fn rotate_key(&self, name: &str, grace_seconds: u32) -> Result<ApiKeyToken> {
        let url = self.url_of_path(&["v1", "keys", name, "rotate"], &[]);
        let body = json!({ "grace_seconds": grace_seconds });
        read_json_body(self.send_request(Method::POST, &url, Some(&body)).await?).await
    }

    /// Revokes a key.
    pub(crate) async fn revoke_key(&self, name: &str) -> Result<()> {
        let url = self.url_of_path(&["v1", "keys", name], &[]);
        self.send_request(Method::DELETE, &url, None).await.map(|_| ())
    }
}
