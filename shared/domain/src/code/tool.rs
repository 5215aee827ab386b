crate::codes! {
    /// Why a tool gave no result.
    pub enum ToolCode {
        UnknownTool = "unknown_tool",
            "There is no tool with this name.",
            "The name is misspelt, or the tool is not offered here.",
            "Use a name from `GET /v1/tools`; the message lists the names.";
        BadArguments = "bad_arguments",
            "The arguments are invalid.",
            "An argument is missing, has the wrong type, is out of its range or is too long.",
            "Correct the argument that the message names, and call again.";
        NotFound = "not_found",
            "There is no such unit, cue, topic, person or page.",
            "The id or name is not of this space, or was erased.",
            "Use ids and names from the results of other tools; the message lists similar ones if there are any.";
        Unavailable = "unavailable",
            "The memory did not answer.",
            "A store or service cannot be reached, or took too long.",
            "Continue without the tool, or call it again.";
    }
}
