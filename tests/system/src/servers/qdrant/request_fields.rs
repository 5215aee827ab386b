use qdrant_client::qdrant::PointId;
use qdrant_client::qdrant::point_id::PointIdOptions;
use tonic::Status;
use uuid::Uuid;

/// Rejects a request that uses a field which this stand-in does not know.
pub(super) fn refuse_unknown(what: &str, used: bool) -> Result<(), Status> {
    match used {
        true => Err(Status::unimplemented(format!("the stand-in does not know {what}"))),
        false => Ok(()),
    }
}

/// Returns the id of a point, which must be a UUID.
pub(super) fn parse_uuid(id: Option<&PointId>) -> Result<Uuid, Status> {
    match id.and_then(|it| it.point_id_options.as_ref()) {
        Some(PointIdOptions::Uuid(text)) => {
            Uuid::parse_str(text).map_err(|_| Status::invalid_argument(format!("Unable to parse UUID: {text}")))
        }
        Some(PointIdOptions::Num(_)) => Err(Status::unimplemented("the stand-in does not know numbers as ids")),
        None => Err(Status::invalid_argument("No ID options provided")),
    }
}
