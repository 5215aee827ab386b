use gateway::api::{ApiKey, ApiKeyToken};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::responses::read_json_body;
use super::{Client, Result, Retry};

impl Client {
    /// Creates a key on the server.
    pub(crate) async fn create_key(&self, body: &Value) -> Result<ApiKeyToken> {
        let url = self.url_of_path(&["v1", "keys"], &[]);
        self.request_token(&url, body).await
    }

    /// Returns the keys in the store of the server, by name.
    pub(crate) async fn list_keys(&self) -> Result<Vec<ApiKey>> {
        self.list_all_items(&["v1", "keys"]).await
    }

    /// Gives a key a new token.
    pub(crate) async fn rotate_key(&self, name: &str, grace_seconds: u32) -> Result<ApiKeyToken> {
        let url = self.url_of_path(&["v1", "keys", name, "rotate"], &[]);
        let body = json!({ "grace_seconds": grace_seconds });
        self.request_token(&url, &body).await
    }

    /// Requests a new token. Each such request that the server completes makes another token, which only its response
    /// contains.
    async fn request_token(&self, url: &Url, body: &Value) -> Result<ApiKeyToken> {
        let request = || self.build_request(Method::POST, url).json(body);
        read_json_body(self.send_with_retries(url, Retry::NotBegun, request).await?).await
    }

    /// Revokes a key.
    pub(crate) async fn revoke_key(&self, name: &str) -> Result<()> {
        let url = self.url_of_path(&["v1", "keys", name], &[]);
        self.send_request(Method::DELETE, &url, None).await.map(|_| ())
    }
}
