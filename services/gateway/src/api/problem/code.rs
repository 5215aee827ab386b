//! The kinds of problems, each with a stable name.

use axum::http::StatusCode;

/// Prefix of the `type` of a problem.
const URN: &str = "urn:mnemic:problem:";
/// Address of docs/ERRORS.md.
const DOCUMENT: &str = match env!("CARGO_PKG_REPOSITORY").is_empty() {
    true => "docs/ERRORS.md",
    false => concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/HEAD/docs/ERRORS.md"),
};

domain::codes! {
    /// Kinds of problems; the name is the end of `type`.
    pub(crate) enum ProblemCode {
        Invalid = "invalid",
            "A value of the request is invalid.",
            "A field, parameter or header is missing, unknown, repeated, out of its bounds or of the wrong type.",
            "Correct the field that `detail` names. The same request is refused again.";
        Watermark = "watermark",
            "The watermark is invalid.",
            "The value is not a watermark, or it belongs to another space, to a deleted memory, or to an older release.",
            "Leave the watermark out, or send the write again and use its watermark.";
        Cursor = "cursor",
            "The cursor of a list is invalid.",
            "The value is not a cursor, or it belongs to another list, other filters or another key.",
            "Leave `after` out to begin the list again.";
        IdempotencyKeyReused = "idempotency-key-reused",
            "The `Idempotency-Key` belongs to another request.",
            "A key was sent again with another body, method or path within a week.",
            "Use a new key for each request, and the same one to repeat a request.";
        IdempotencyKeyInFlight = "idempotency-key-in-flight",
            "The first request with this `Idempotency-Key` is still being answered.",
            "The request was repeated before its first response came.",
            "Wait as long as `Retry-After` says and repeat it: it gets the first response.";
        Syntax = "syntax",
            "The body is not JSON.",
            "The body is cut off, empty, not UTF-8, or has more text after its end.",
            "Send one JSON value; `detail` has the line and column.";
        MediaType = "media-type",
            "The body is not declared as JSON, or is compressed.",
            "`Content-Type` is missing or has another value, or there is a `Content-Encoding`.",
            "Send `Content-Type: application/json`, and the body uncompressed.";
        Incomplete = "incomplete",
            "The body did not arrive completely.",
            "The connection broke, or the caller stopped sending.",
            "Send the request again; nothing of it was kept.";
        TooLarge = "too-large",
            "The body has too many bytes or values.",
            "It is over `[gateway] body_bytes_max`, or holds too many JSON values.",
            "Send several smaller requests.";
        BeyondBounds = "beyond-bounds",
            "A request to the API of mem0 covers too many memories.",
            "The API of mem0 has no pages, so the number of memories in one request is limited.",
            "Narrow its filters, or use the API of Mnemic, which has pages.";
        Protocol = "protocol",
            "The request is not a message of the Model Context Protocol.",
            "The method, the headers or the JSON-RPC envelope do not follow the protocol.",
            "Use a client of the protocol (streamable HTTP); `detail` has the words of the library.";
        Unauthorized = "unauthorized",
            "A valid key is needed.",
            "There is no `Authorization: Bearer`, or the server does not know the key, or the key was revoked.",
            "Send a valid key; `mnemic keys list` lists the keys of the store.";
        Forbidden = "forbidden",
            "The key may not do this.",
            "The key lacks the right `read`, `write` or `admin`, in this space or in every space.",
            "Use a key with the right that `detail` names.";
        NotLocal = "not-local",
            "A server without keys answers only requests from its own machine.",
            "`Host`, or the `Origin` of a browser page, is not a loopback name.",
            "Call the server as `localhost` or `127.0.0.1`, or configure keys.";
        NotFound = "not-found",
            "The object does not exist in this space.",
            "The id is wrong, the object was erased, or it was not known yet at `as_of`.",
            "Use ids from the lists of the space.";
        UnknownSpace = "unknown-space",
            "There is no such space.",
            "It was never created, or was deleted, or the name is misspelt.",
            "Create it with `PUT /v1/spaces/{space}`; `GET /v1/spaces` lists the spaces of the key.";
        NoRoute = "no-route",
            "There is no such route or file.",
            "The path is wrong, or the server is older than the client.",
            "`/docs` lists the routes. `/livez`, `/readyz` and `/metrics` are on the admin port.";
        NoMethod = "no-method",
            "The route does not have this method.",
            "The method is wrong, or the server is older than the client.",
            "`/docs` lists the methods of each route.";
        NotImplemented = "not-implemented",
            "Mnemic has no equivalent of this route of mem0.",
            "A client of mem0 requested something that Mnemic does in another way or not at all.",
            "`detail` says what to use instead; docs/MEM0.md lists the supported routes.";
        Conflict = "conflict",
            "The request contradicts the stored state.",
            "An id already belongs to other content, or the object was already changed or retired.",
            "Read the stored object, and use another id or a new version.";
        NoAdminKey = "no-admin-key",
            "This server has no key that may create others.",
            "Keys can be created through the API only if the settings have a key with the right `admin` over all spaces.",
            "Put such a key into `[[gateway.keys]]` and restart the server.";
        NoRecord = "no-record",
            "The record that was to be updated does not exist.",
            "`If-Match` names a record that was never there or was erased.",
            "Leave `If-Match` out to create the record.";
        RecordExists = "record-exists",
            "The record that was to be created exists already.",
            "`If-None-Match: *` was sent, and a record has this id or is being stored under it.",
            "Leave `If-None-Match` out to put the next version of the record, or use another id.";
        Exhausted = "exhausted",
            "The server has too many requests at once.",
            "The maximum number of concurrent requests is reached, or the queue of the writer is full.",
            "Wait as long as `Retry-After` says and try again, with growing pauses.";
        ShareExhausted = "share-exhausted",
            "The key has too many requests at once.",
            "The maximum number of concurrent requests of this key is reached.",
            "Send fewer requests at a time with this key.";
        QuotaExhausted = "quota-exhausted",
            "The quota of the key is used up.",
            "`requests_per_minute` or `records_per_day` of the key is reached.",
            "Wait as long as `Retry-After` says, or raise the quota.";
        Timeout = "timeout",
            "The time ran out.",
            "A part of the server was slow, or the wait for a watermark exceeded `budget.ms`.",
            "Try again, or raise `budget.ms` (`--time-ms` of `mnemic ask` and `mnemic recall`); after a wait for a write, `progress` reports the progress of the writer.";
        Unavailable = "unavailable",
            "A part of the server cannot be reached.",
            "A store, the bus or a service cannot be reached.",
            "Try again after `Retry-After`. `/readyz` on the admin port names the part.";
        Damaged = "damaged",
            "Stored data is damaged and is not returned.",
            "Another program changed a file or row, or the disk failed.",
            "The operator runs `mnemic doctor`, which names the damage, and `mnemic restore` with a backup.";
        Internal = "internal",
            "A defect of the server.",
            "The server reached a state that its code does not expect.",
            "Report it with the lines of the log that have the trace id of the response.";
    }
}

impl ProblemCode {
    /// Returns the `type` of problems of this kind.
    pub(crate) fn to_urn(self) -> String {
        format!("{URN}{}", self.name())
    }

    /// Returns the address of the section of docs/ERRORS.md on this kind.
    pub(crate) fn help_url(self) -> String {
        format!("{DOCUMENT}#{}", self.name())
    }

    /// Returns the HTTP status of problems of this kind.
    pub(crate) fn http_status(self) -> StatusCode {
        match self {
            ProblemCode::Syntax | ProblemCode::Incomplete | ProblemCode::BeyondBounds | ProblemCode::Protocol => {
                StatusCode::BAD_REQUEST
            }
            ProblemCode::Unauthorized => StatusCode::UNAUTHORIZED,
            ProblemCode::Forbidden => StatusCode::FORBIDDEN,
            ProblemCode::NotFound | ProblemCode::UnknownSpace | ProblemCode::NoRoute => StatusCode::NOT_FOUND,
            ProblemCode::NoMethod => StatusCode::METHOD_NOT_ALLOWED,
            ProblemCode::Conflict | ProblemCode::NoAdminKey | ProblemCode::IdempotencyKeyInFlight => {
                StatusCode::CONFLICT
            }
            ProblemCode::NoRecord | ProblemCode::RecordExists => StatusCode::PRECONDITION_FAILED,
            ProblemCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ProblemCode::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ProblemCode::NotLocal => StatusCode::MISDIRECTED_REQUEST,
            ProblemCode::Invalid | ProblemCode::Watermark | ProblemCode::Cursor | ProblemCode::IdempotencyKeyReused => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ProblemCode::Exhausted | ProblemCode::ShareExhausted | ProblemCode::QuotaExhausted => {
                StatusCode::TOO_MANY_REQUESTS
            }
            ProblemCode::Damaged | ProblemCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ProblemCode::NotImplemented => StatusCode::NOT_IMPLEMENTED,
            ProblemCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ProblemCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// Returns the `title` of problems of this kind.
    pub(crate) fn title(self) -> &'static str {
        match self {
            ProblemCode::Invalid => "The request is invalid",
            ProblemCode::Watermark => "The watermark is invalid",
            ProblemCode::Cursor => "The cursor is invalid",
            ProblemCode::IdempotencyKeyReused => "The Idempotency-Key belongs to another request",
            ProblemCode::IdempotencyKeyInFlight => "The request with this Idempotency-Key is in progress",
            ProblemCode::Syntax => "The body is not JSON",
            ProblemCode::MediaType => "The body is not declared as JSON, or is compressed",
            ProblemCode::Incomplete => "The body did not arrive completely",
            ProblemCode::TooLarge => "The body is too large",
            ProblemCode::BeyondBounds => "The request asks for too much",
            ProblemCode::Protocol => "Not a message of the Model Context Protocol",
            ProblemCode::Unauthorized => "A valid key is needed",
            ProblemCode::Forbidden => "The key may not do this",
            ProblemCode::NotLocal => "This server answers only requests from its own machine",
            ProblemCode::NotFound => "There is no such object",
            ProblemCode::UnknownSpace => "There is no such space",
            ProblemCode::NoRoute => "There is no such route",
            ProblemCode::NoMethod => "The route has no such method",
            ProblemCode::NotImplemented => "Mnemic has no equivalent of this",
            ProblemCode::Conflict => "The request contradicts stored data",
            ProblemCode::NoAdminKey => "This server has no key that may create others",
            ProblemCode::NoRecord => "There is no such record",
            ProblemCode::RecordExists => "The record exists already",
            ProblemCode::Exhausted => "Too many requests at once",
            ProblemCode::ShareExhausted => "The key has too many requests at once",
            ProblemCode::QuotaExhausted => "The quota of the key is used up",
            ProblemCode::Timeout => "The time ran out",
            ProblemCode::Unavailable => "A part of the service cannot be reached",
            ProblemCode::Damaged => "Stored data is damaged",
            ProblemCode::Internal => "A defect of the server",
        }
    }
}
