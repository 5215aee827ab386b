use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};

use crate::api::problem::{Problem, ProblemCode};
use crate::app::hex::to_hex;
use crate::http::docs;
use crate::http::extract::PathParameters;

/// The built explorer. `docs/EXPLORER.md` describes the build; CI fails if these files are out of date.
static BUILT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../explorer/dist");

/// Content security policy: scripts and styles come only from this server, and text from the memory never becomes
/// markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Caching of assets: their names contain a digest of their content, so a browser never has to request one again.
const ASSET_CACHING: &str = "public, max-age=31536000, immutable";
const PAGE_CACHING: &str = "no-cache";

/// Number of digest digits in an entity tag.
const ETAG_DIGITS: usize = 32;

/// A file of the explorer, ready to send.
struct Asset {
    media_type: &'static str,
    etag: String,
    plain: &'static [u8],
    gzip: Vec<u8>,
}

static ASSETS: LazyLock<BTreeMap<String, Asset>> = LazyLock::new(|| {
    let folders = BUILT.dirs().flat_map(Dir::files);
    let files = BUILT.files().chain(folders);
    files
        .map(|file| {
            let path = file.path().to_string_lossy().into_owned();
            let asset = Asset::new(&path, file.contents());
            (path, asset)
        })
        .collect()
});

impl Asset {
    fn new(path: &str, plain: &'static [u8]) -> Asset {
        let media_type = match path.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        };
        let mut etag = to_hex(&Sha256::digest(plain));
        etag.truncate(ETAG_DIGITS);
        Asset {
            media_type,
            etag: format!("\"{etag}\""),
            plain,
            gzip: compress_gzip(plain),
        }
    }
}

/// Returns the bytes compressed by gzip; empty if compression failed, and then the file is sent uncompressed.
fn compress_gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(plain);
    written.and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Returns the explorer to browsers, and the index of the API to other clients.
pub(crate) async fn get_root(headers: HeaderMap) -> Response {
    let mut response = if has_header_item(&headers, header::ACCEPT, "text/html") {
        get_explorer_page(headers).await
    } else {
        docs::api_index().into_response()
    };
    let vary = HeaderValue::from_static("accept, accept-encoding");
    response.headers_mut().insert(header::VARY, vary);
    response
}

/// Returns the page of the explorer; at `/docs` it opens with the API.
pub(crate) async fn get_explorer_page(headers: HeaderMap) -> Response {
    respond_with_file("index.html".to_owned(), PAGE_CACHING, &headers).await
}

/// Returns a script, stylesheet or picture of the explorer.
pub(crate) async fn get_asset(PathParameters(name): PathParameters<String>, headers: HeaderMap) -> Response {
    respond_with_file(format!("assets/{name}"), ASSET_CACHING, &headers).await
}

async fn respond_with_file(path: String, caching: &'static str, headers: &HeaderMap) -> Response {
    // The first request compresses all files.
    let assets = tokio::task::spawn_blocking(|| &*ASSETS).await;
    let Ok(assets) = assets else {
        return Problem::internal_error().into_response();
    };
    let Some(asset) = assets.get(&path) else {
        return Problem::new(ProblemCode::NoRoute)
            .with_detail("the explorer has no such file: reload the page, because the server may have been updated")
            .into_response();
    };
    let common = [
        (header::ETAG, asset.etag.as_str()),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    if has_header_item(headers, header::IF_NONE_MATCH, &asset.etag) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let media_type = [(header::CONTENT_TYPE, asset.media_type)];
    if !asset.gzip.is_empty() && has_header_item(headers, header::ACCEPT_ENCODING, "gzip") {
        let encoding = [(header::CONTENT_ENCODING, "gzip")];
        return (common, media_type, encoding, asset.gzip.as_slice()).into_response();
    }
    (common, media_type, asset.plain).into_response()
}

/// Returns true if the list in a header contains `value`.
fn has_header_item(headers: &HeaderMap, name: header::HeaderName, value: &str) -> bool {
    let lists = headers.get_all(name);
    let values = lists.iter().filter_map(|list| list.to_str().ok());
    values
        .flat_map(|list| list.split(','))
        .filter_map(|item| item.split(';').next())
        .any(|item| item.trim().trim_start_matches("W/").eq_ignore_ascii_case(value))
}
