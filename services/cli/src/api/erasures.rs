use domain::id::SpaceId;
use gateway::api::{Deleting, Erasure, ErasureCheck};
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode};

use super::{Client, Result, read};

/// A space that was deleted.
pub(crate) struct Deleted {
    /// What is left to do, if anything is.
    pub(crate) left: Option<Deleting>,
    /// The id of the receipt, if there is one.
    pub(crate) receipt: Option<String>,
}

impl Client {
    /// Erases a space.
    pub(crate) async fn delete(&self, space: &SpaceId) -> Result<Deleted> {
        let url = self.url(&["v1", "spaces", space.as_str()], &[]);
        let response = self.send(Method::DELETE, &url, None).await?;
        let place = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let receipt = place.and_then(|it| it.rsplit('/').next()).map(str::to_owned);
        let left = match response.status() {
            StatusCode::ACCEPTED => Some(read(response).await?),
            _ => None,
        };
        Ok(Deleted { left, receipt })
    }

    /// Returns the receipts of erasures under the name of a space, by id.
    pub(crate) async fn erasures(&self, space: &SpaceId) -> Result<Vec<Erasure>> {
        self.all(&["v1", "spaces", space.as_str(), "erasures"]).await
    }

    /// Returns one receipt.
    pub(crate) async fn erasure(&self, space: &SpaceId, id: &str) -> Result<Erasure> {
        let url = self.url(&["v1", "spaces", space.as_str(), "erasures", id], &[]);
        read(self.send(Method::GET, &url, None).await?).await
    }

    /// Has the server look into its stores for what was erased.
    pub(crate) async fn check_erasure(&self, space: &SpaceId, id: &str) -> Result<ErasureCheck> {
        let url = self.url(&["v1", "spaces", space.as_str(), "erasures", id, "check"], &[]);
        read(self.send(Method::POST, &url, None).await?).await
    }
}
