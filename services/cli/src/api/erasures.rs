use domain::id::SpaceId;
use gateway::api::{Deleting, Erasure, ErasureCheck};
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode};

use super::responses::read_json_body;
use super::{Client, Result};

/// The outcome of the deletion of a space.
pub(crate) struct Deleted {
    /// The steps that remain, if there are any.
    pub(crate) left: Option<Deleting>,
    /// The id of the receipt, if there is one.
    pub(crate) receipt: Option<String>,
}

impl Client {
    /// Erases a space.
    pub(crate) async fn delete_space(&self, space: &SpaceId) -> Result<Deleted> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str()], &[]);
        let response = self.send_request(Method::DELETE, &url, None).await?;
        let place = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let receipt = place.and_then(|it| it.rsplit('/').next()).map(str::to_owned);
        let deleting = match response.status() {
            StatusCode::ACCEPTED => Some(read_json_body(response).await?),
            _ => None,
        };
        Ok(Deleted {
            left: deleting,
            receipt,
        })
    }

    /// Returns the receipts of erasures in the spaces with this name, by id.
    pub(crate) async fn list_erasures(&self, space: &SpaceId) -> Result<Vec<Erasure>> {
        self.list_all_items(&["v1", "spaces", space.as_str(), "erasures"]).await
    }

    /// Returns one receipt.
    pub(crate) async fn get_erasure(&self, space: &SpaceId, id: &str) -> Result<Erasure> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "erasures", id], &[]);
        read_json_body(self.send_request(Method::GET, &url, None).await?).await
    }

    /// Asks the server to search its stores for the erased data of a receipt.
    pub(crate) async fn check_erasure(&self, space: &SpaceId, id: &str) -> Result<ErasureCheck> {
        let url = self.url_of_path(&["v1", "spaces", space.as_str(), "erasures", id, "check"], &[]);
        read_json_body(self.send_request(Method::POST, &url, None).await?).await
    }
}
