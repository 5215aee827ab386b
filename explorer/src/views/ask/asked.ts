import type { AnswerStyle, QueryRequest, Strategy } from "../../api/types";
import { moment } from "../../lib/format";
import { link } from "../../lib/route";
import { tagsIn } from "../../lib/tags";

/** Units that the server explains; this is its maximum. */
const EXPLAINED = 100;
const DEFAULT_TOKENS = "512";
const DEFAULT_STYLE = "short";

/** A question in the form of the page's address. */
export interface Asked {
  question: string;
  strategy: string;
  tokens: string;
  asOf: string;
  /** Tags, separated by commas; a record must have one of them. Empty for all records. */
  tags: string;
  /** Maximum number of calls of a language model for the question. */
  calls: string;
  style: string;
  /** Whether the evidence has only original texts of records, word for word. */
  verbatim: boolean;
  compare: boolean;
  otherTokens: string;
  otherAsOf: string;
}

/** Returns the question in an address. */
export function askedIn(params: URLSearchParams): Asked {
  return {
    question: params.get("q") ?? "",
    strategy: params.get("strategy") ?? "route",
    tokens: params.get("tokens") ?? DEFAULT_TOKENS,
    asOf: params.get("as_of") ?? "",
    tags: params.get("tags") ?? "",
    calls: params.get("calls") ?? "0",
    style: params.get("style") ?? DEFAULT_STYLE,
    verbatim: params.get("verbatim") !== "0",
    compare: params.get("compare") === "1",
    otherTokens: params.get("tokens2") ?? "128",
    otherAsOf: params.get("as_of2") ?? "",
  };
}

/** Returns the address of a question; default values are omitted. */
export function addressOf(space: string, it: Asked): string {
  const other = it.compare ? { compare: 1, tokens2: it.otherTokens, as_of2: it.otherAsOf } : {};
  const model = {
    calls: Number(it.calls) > 0 ? it.calls : "",
    style: it.style === DEFAULT_STYLE ? "" : it.style,
    verbatim: it.verbatim ? "" : 0,
  };
  const common = { q: it.question, strategy: it.strategy, tokens: it.tokens, as_of: it.asOf, tags: it.tags };
  return link(space, "ask", "", { ...common, ...model, ...other });
}

/** Returns true if a setting of the language model differs from its default. */
export const usesModel = (it: Asked): boolean => Number(it.calls) > 0 || it.style !== DEFAULT_STYLE || !it.verbatim;

/** Returns the request body of the question. */
export function requestOf(it: Asked): QueryRequest {
  const body: QueryRequest = {
    question: it.question,
    strategy: it.strategy as Strategy,
    style: it.style as AnswerStyle,
    verbatim: it.verbatim,
    budget: { tokens: Number(it.tokens), model_calls: Number(it.calls) },
    explain: EXPLAINED,
    ranked: EXPLAINED,
  };
  const asOf = moment(it.asOf);
  if (asOf) body.as_of = asOf;
  const any = tagsIn(it.tags);
  if (any.length > 0) body.filter = { tags: { any } };
  return body;
}
