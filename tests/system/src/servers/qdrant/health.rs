use qdrant_client::qdrant::qdrant_server::Qdrant;
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest};
use tonic::{Request, Response, Status, async_trait};

use super::state::SharedState;

#[async_trait]
impl Qdrant for SharedState {
    async fn health_check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckReply>, Status> {
        Ok(Response::new(HealthCheckReply {
            title: "stand-in for qdrant".to_owned(),
            version: self.version().clone(),
            commit: None,
        }))
    }
}
