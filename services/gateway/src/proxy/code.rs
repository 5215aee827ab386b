//! Error codes of the proxy, in addition to those of problem documents.

domain::codes! {
    /// Reasons why the proxy does not forward a chat, or got no reply.
    pub(crate) enum ProxyCode {
        SpaceMissing = "space_missing",
            "The chat names no space.",
            "There is neither the header `X-Mnemic-Space` nor `user` in the body.",
            "Send one of the two.";
        SpaceInvalid = "space_invalid",
            "The name of the space is invalid.",
            "`X-Mnemic-Space`, or `user` after `space_prefix`, has characters or a length that are not allowed in the name of a space.",
            "Use a name that the message allows.";
        SessionInvalid = "session_invalid",
            "The name of the session is invalid.",
            "`X-Mnemic-Session` is empty, not UTF-8, or too long.",
            "Correct the header, or leave it out.";
        InvalidJson = "invalid_json",
            "The body is not JSON.",
            "The body is cut off, or is not a JSON object.",
            "Send a body that the API of OpenAI accepts.";
        Invalid = "invalid",
            "The body is invalid.",
            "A field that concerns the memory is missing or occurs twice, or the messages are not a list.",
            "Correct the field that the message names.";
        UpstreamUnreachable = "upstream_unreachable",
            "The language model cannot be reached.",
            "The endpoint in `[gateway.proxy] url` cannot be reached, or refuses the connection.",
            "Try again. The operator checks the address; the log has the cause.";
        UpstreamCut = "upstream_cut",
            "The reply of the language model ended too early.",
            "The connection to the endpoint ended too early.",
            "Send the chat again.";
        UpstreamTooLong = "upstream_too_long",
            "The reply of the language model is too long.",
            "The endpoint sent more bytes than the proxy accepts.",
            "Limit the reply with `max_tokens`.";
        UpstreamTimeout = "upstream_timeout",
            "The language model did not reply in time.",
            "The endpoint took longer than `[gateway.proxy] timeout_ms`.",
            "Ask for less, use a stream, or raise `timeout_ms`.";
    }
}
