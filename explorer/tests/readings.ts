interface Given {
  failure?: string;
  leftOut?: { what: string; why: string }[];
}

/**
 * A label of one record in the form that the API accepts. The writer removes readings of passages that are not passages of the
 * session, and readings of texts that differ from those of the records; it keeps labels.
 */
export function reading(session: string, record: string, { failure, leftOut = [] }: Given) {
  return {
    session,
    kind: "label",
    records: [record],
    digest: "ab".repeat(32),
    prompt: "read/1",
    model: "model-1",
    at: "2026-03-01T12:00:00Z",
    output: "",
    failure,
    outcome: { gists: 0, facts: 0, relations: 0, left_out: leftOut },
    spent: { model_calls: 1, usage: { prompt_tokens: 1000, completion_tokens: 100 }, model_ms: 1500 },
  };
}
