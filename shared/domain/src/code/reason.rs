crate::codes! {
    /// Why there is no answer. Codes are stable: new codes may be added, but the meaning of a code never changes.
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    pub enum ReasonCode {
        NoEvidence = "no_evidence",
            "There is no evidence at all.",
            "The space is empty, its records are not searchable yet, or the filter, `as_of` or `budget.tokens` leaves nothing.",
            "Look at the number of records of the space, ask with `after`, or widen the filter.";
        NothingAsked = "nothing_asked",
            "The question names nothing to look for.",
            "It has no name, no time and no word with a meaning, as in \"hi\".",
            "Ask about a person or a thing.";
        NothingKnown = "nothing_known",
            "Nothing on this is remembered.",
            "No record comes near what the question asks about.",
            "Check the space and the spelling of names.";
        DetailDiffers = "detail_differs",
            "The memory holds another value or detail than the one asked about.",
            "The question assumes something that a record says differently, such as another place or number.",
            "Read `nearest`, which quotes the record, and ask again with its words.";
        NothingThen = "nothing_then",
            "Nothing is remembered from the time asked about.",
            "The records on this are from other times.",
            "Ask without the time, or check the times of the records.";
        SaidOfAnother = "said_of_another",
            "The records on this are about another person.",
            "The question names one person; the records say it about another.",
            "Read `nearest`, and ask about the person that it names.";
        NotCovered = "not_covered",
            "No record fits the question well enough.",
            "The nearest records share only a part of the question.",
            "Ask in other words, or about a part of it; `pack` holds the nearest records.";
        NobodyInRole = "nobody_in_role",
            "No one in that role is mentioned: for example, Ann has no sister on record.",
            "The question asks about a person by role, and no record names a person in this role.",
            "Ask by name, or add a record that says who it is.";
        NoShortAnswer = "no_short_answer",
            "The question asks for more than a short answer; the evidence may hold it.",
            "It asks why or how, for a summary, or for a kind of answer that rules read wrongly too often (docs/CONTRACTS.md lists them).",
            "Use `pack`, or allow a language model with `budget.model_calls`.";
        NothingOfKind = "nothing_of_kind",
            "The evidence holds nothing of the kind that was asked for.",
            "The question asks for a time, a person, a place or a number, and the records near it name none.",
            "Read `pack`, or ask in other words.";
        AnotherMatter = "another_matter",
            "The nearest records are about another matter.",
            "A record has a value of the right kind, but it belongs to something else.",
            "Ask in other words; `pack` holds the records.";
        NameUnknown = "name_unknown",
            "A name or number of the question occurs nowhere.",
            "It is misspelt, or no record names it.",
            "Check the spelling, and the space.";
        WrittenAsAnother = "written_as_another",
            "The only record on this is written as if another person said it.",
            "A record quotes a person, and no record by that person says so.",
            "Decide whether to believe the person who quotes; `pack` holds the record.";
        NotReckoned = "not_reckoned",
            "The question asks how long ago something was; only its time is remembered.",
            "The records state a time, but not how long ago it was.",
            "Ask when it was.";
        ToldByAnother = "told_by_another",
            "Only another person says this about the person in the question, who speaks about it too.",
            "The person's own records say something else, or less.",
            "Read both in `pack`.";
        Uncertain = "uncertain",
            "No short answer is certain enough, but the evidence may contain the answer.",
            "The best candidate for an answer has too low a confidence.",
            "Use `pack`, or allow a language model with `budget.model_calls`.";
    }
}
