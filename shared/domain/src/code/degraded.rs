crate::codes! {
    /// Which part of a request was left out. The response is made without it, and `degraded` has a sentence on it.
    pub enum DegradedCode {
        WriterBehind = "writer_behind",
            "The answer may lack records that were accepted before the question.",
            "Batches were accepted and are not searchable yet.",
            "Ask with `after` set to the watermark of the write, or ask again in a moment.";
        WriterUnknown = "writer_unknown",
            "It is not known whether the answer lacks records that were accepted before the question.",
            "The bus did not report in time which batches wait for the writer.",
            "Ask again. If the problem persists, check the bus: `/readyz` on the admin port names the parts that cannot be reached.";
        RouterBehind = "router_behind",
            "The answer may lack records that became searchable shortly before the question, and what was derived since.",
            "The space is written so fast that the router needs more than a second to read the latest writes, or more than half of the time that the question has left.",
            "Ask with `after` set to the watermark of the write, or ask again in a moment.";
        EmbedderUnavailable = "embedder_unavailable",
            "The evidence was found by words alone, not by meaning.",
            "The embedding endpoint did not answer in time, or failed. The built-in embedder needs no endpoint.",
            "Check the endpoint in `[embeddings]`; `mnemic doctor` calls it. Nothing that was accepted is lost.";
        IndexUnavailable = "index_unavailable",
            "The evidence was found without the index, from the data that the router holds in memory.",
            "The index did not answer in time, or failed.",
            "Check Qdrant, or the disk of an embedded installation; `/readyz` names the parts that cannot be reached.";
        GraphUnavailable = "graph_unavailable",
            "The evidence was found without relations between units, or from the state of the space that the router last read.",
            "The graph did not answer in time, or failed.",
            "Check Neo4j, or the disk of an embedded installation; `/readyz` names the parts that cannot be reached.";
        MetadataUnavailable = "metadata_unavailable",
            "`pack.metadata` is missing although the request asked for it.",
            "The store of the records did not answer in time, or failed.",
            "Ask again, or read the records by their ids.";
        ReaderUnavailable = "reader_unavailable",
            "The response has evidence, but neither a verdict nor an answer.",
            "The reader cannot be reached, failed, or did not answer within `budget.ms`.",
            "Use the evidence, ask again, or raise `budget.ms`.";
        AnswerWithoutModel = "answer_without_model",
            "The answer was read from the evidence by rule, although the request allowed a language model.",
            "No model is set up (`[language_model] url`), too many questions wait for it, it failed, its reply could not be read, or the `budget` was spent. The sentence says which.",
            "Nothing if the answer by rule is enough. Otherwise raise `budget`, or run `mnemic doctor`, which tests the model.";
        PlanWithoutModel = "plan_without_model",
            "The question was split into parts without a language model, or not split at all.",
            "As for `answer_without_model`, or the reader did not answer in time.",
            "As for `answer_without_model`.";
        PartUnsearched = "part_unsearched",
            "Nothing was found for one part of the question.",
            "The router did not answer for that part in time, or failed.",
            "Ask again, or ask about that part alone.";
        SelectionWithoutModel = "selection_without_model",
            "The evidence was packed by rank, without the choice of a language model.",
            "As for `answer_without_model`, or the reader did not answer in time.",
            "As for `answer_without_model`.";
        StrategyUnfinished = "strategy_unfinished",
            "The language model chose no evidence for the strategy, or could not look around. The units that were found are preferred among equals.",
            "As for `answer_without_model`, the model made lookups until its turns were used up, or they had to wait for other questions until the time was over.",
            "Raise `budget.model_calls` or `budget.ms`, or use the strategy `route`.";
        RecallWithoutModel = "recall_without_model",
            "The hints were chosen by rule although the request allowed a language model, or the model could not look around.",
            "As for `strategy_unfinished`.",
            "As for `answer_without_model`.";
        MembersIncomplete = "members_incomplete",
            "Nearer members of the topic may be missing from the list.",
            "The space has more members of topics than one request looks at.",
            "Nothing: the units that are listed are members.";
        #[serde(other)]
        Other = "other",
            "A part without a specific code was left out; the sentence in `degraded` names it.",
            "A service of another version runs next to this gateway.",
            "Read the sentence, and run all services in one version.";
    }
}
