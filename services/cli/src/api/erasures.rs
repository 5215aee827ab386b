use domain::id::SpaceId;
use gateway::api::{Deleting, Erasure, ErasureCheck};
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode};

use super::{Client, Result, read};

/// The outcome of the deletion of a space.
pub(crate) struct Deleted {
    /// The steps that remain, if there are any.
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

    /// Returns the receipts of erasures in the spaces with this name, by id.
    pub(crate) async fn erasures(&self, space: &SpaceId) -> Result<Vec<Erasure>> {
        self.all(&["v1", "spaces", space.as_str(), "erasures"]).await
    }

    /// Returns one receipt.
    pub(crate) async fn erasure(&self, space: &SpaceId, id: &str) -> Result<Erasure> {
        let url = self.url(&["v1", "spaces", space.as_str(), "erasures", id], &[]);
        read(self.send(Method::GET, &url, None).await?).await
    }

    /// Asks the server to search its stores for the erased data of a receipt.
    pub(crate) async fn check_erasure(&self, space: &SpaceId, id: &str) -> Result<ErasureCheck> {
        let url = self.url(&["v1", "spaces", space.as_str(), "erasures", id, "check"], &[]);
        read(self.send(Method::POST, &url, None).await?).await
    }
}
