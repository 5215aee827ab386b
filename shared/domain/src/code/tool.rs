crate::codes! {
    /// Why a tool gave no result.
    pub enum ToolCode {
        UnknownTool = "unknown_tool",
            "There is no tool of this name.",
            "The name is misspelt, or the tool is not offered here.",
            "Take a name from `GET /v1/tools`; the message lists them.";
        BadArguments = "bad_arguments",
            "The arguments cannot be used.",
            "One is missing, has the wrong type, is out of its range or is too long.",
            "Correct the argument that the message names, and call again.";
        NotFound = "not_found",
            "There is no such unit, cue, topic, person or page.",
            "The id or name is not of this space, or was erased.",
            "Take ids and names from the results of other tools; the message names near ones where there are any.";
        Unavailable = "unavailable",
            "The memory did not answer.",
            "A store or service cannot be reached, or took too long.",
            "Go on without the tool, or call once more.";
    }
}
