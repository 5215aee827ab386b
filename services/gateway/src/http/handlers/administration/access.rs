use axum::{Extension, Json};

use crate::api::KeyAccess;
use crate::app::keys::access::Access;

/// Returns the spaces that the key of the request opens and its rights there. A server without keys allows everything.
#[utoipa::path(get, path = "/v1/access", tag = "access", responses(
    (status = 200, description = "Name, spaces and rights of the key", body = KeyAccess),
))]
pub(crate) async fn get(Extension(access): Extension<Access>) -> Json<KeyAccess> {
    Json(KeyAccess {
        name: access.name().to_owned(),
        spaces: access.space_patterns().to_vec(),
        rights: access.rights().to_vec(),
    })
}
