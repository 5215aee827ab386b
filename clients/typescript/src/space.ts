/** A space: remember, ask, recall, erase. */
import { ConflictError, errorOf, InvalidError, RecordsRejectedError, UnexpectedResponseError } from "./errors.js";
import { type EventsOptions, type SpaceEvent, spaceEvents } from "./event_stream.js";
import { type LabelOptions, labelParams, type ListOptions, Memory } from "./memory.js";
import type * as models from "./models.js";
import {
  type After,
  batchesOf,
  type Imported,
  moment,
  newKey,
  note,
  fieldsOf,
  type Numbered,
  type RecordDefaults,
  type RecordLike,
  recordsOf,
  reject,
  watermarkOf,
  type WriteOptions,
  type WrittenRecord,
} from "./records.js";
import type { CallOptions, Request, Time } from "./request.js";
import { readJson } from "./transport.js";

/** Records of one request of an import. */
const IMPORT_BATCH = 500;
/** Milliseconds that the server gives a question, without and with a language model, if its budget does not say. */
const QUESTION_MS = 2_000;
const MODEL_QUESTION_MS = 30_000;

/** What a question takes. */
export interface AskOptions extends CallOptions {
  /** Bounds the evidence, in o200k tokens; short for the same in `budget`. */
  tokens?: number;
  budget?: models.Budget;
  filter?: models.Filter;
  strategy?: models.Strategy;
  /** Bounds the loop of a strategy; needs `model_calls` in the budget. */
  limits?: models.Limits;
  /** How a language model of the server words the answer; needs `model_calls` in the budget. */
  style?: models.AnswerStyle;
  /** A write that must be seen: its watermark, or what `remember` returned. */
  after?: After;
  /** Only what was known at this moment. */
  asOf?: Time;
  /** The "now" of relative times in the question. */
  askedAt?: Time;
  /** Whether an answer is wanted beside verdict and evidence; true if not given. */
  answer?: boolean;
  /** Number of units to explain. */
  explain?: number;
  /** Number of units to return in rank order. */
  ranked?: number;
  /** Whether to return the metadata of the records in the evidence. */
  metadata?: boolean;
  /** Whether evidence is only what was said, word for word; true if not given. */
  verbatim?: boolean;
}

/** What a question that is answered step by step gives: steps as they are made, and at the end the response. */
export type AskEvent =
  | { type: "step"; step: models.PathStep }
  | { type: "response"; response: models.QueryResponse };

/** What recall takes. */
export interface RecallOptions extends CallOptions {
  /** Who says the message. */
  actor?: string;
  /** The session; what was said in it is not said again there. */
  session?: string;
  after?: After;
  /** When it is said: nothing later is used. */
  at?: Time;
  /** Hints wanted at most. */
  limit?: number;
  /** Hints tell only what the records say that this filter of tags and metadata takes. */
  filter?: models.LabelFilter;
  /** Whether what is sensitive (health, money, grief) may be said. */
  sensitive?: boolean;
  budget?: models.RecallBudget;
}

/** An isolated memory: of a user, an agent or a project. */
export class Space extends Memory {
  /** Creates the space, unless it exists. */
  async create(options: CallOptions = {}): Promise<models.Space> {
    return this.transport.fetch(this.request(options, "PUT"));
  }

  /** Returns what the space holds. */
  async info(options: CallOptions = {}): Promise<models.Space> {
    return this.get(options, {});
  }

  /**
   * Stores what happened: a text, a record, or several. They are on disk when this returns, and found a moment later; with
   * `wait`, it returns once they are searchable. Facts, entities and pages follow later.
   *
   * `actor`, `session`, `observedAt`, `metadata` and `tags` are for records that do not say them. Throws a
   * `RecordsRejectedError` if some were not taken: the others are stored all the same.
   */
  async remember(
    what: RecordLike | Iterable<RecordLike>,
    options: RecordDefaults & WriteOptions & { idempotencyKey?: string } = {},
  ): Promise<models.Accepted> {
    const accepted = await this.#add(recordsOf(what, options), options.idempotencyKey ?? newKey(), options);
    if (accepted.items.some((item) => item.status !== "rejected")) await this.waitIfWanted(accepted, options);
    if (accepted.items.some((item) => item.status === "rejected")) throw new RecordsRejectedError(accepted);
    return accepted;
  }

  /**
   * Stores many records, in batches of at most `batch`. Records without an id get one from their place and content, so importing
   * the same again stores nothing twice. Records that cannot be used are left out and named in what is returned.
   */
  async importRecords(
    source: Iterable<RecordLike> | AsyncIterable<RecordLike>,
    options: WriteOptions & { batch?: number } = {},
  ): Promise<Imported> {
    if (typeof source === "string") throw new TypeError("importRecords takes records, not the name of a file");
    const imported: Imported = { accepted: 0, duplicates: 0, rejectedCount: 0, rejected: [], watermark: undefined };
    for await (const batch of batchesOf(source, options.batch ?? IMPORT_BATCH)) await this.#import(batch, imported, options);
    if (imported.watermark !== undefined) await this.waitIfWanted(imported.watermark, options);
    return imported;
  }

  /** Sends a batch; one that is refused as a whole is halved until the records at fault are alone. */
  async #import(batch: Numbered[], imported: Imported, options: CallOptions): Promise<void> {
    const waiting = [batch];
    for (let part = waiting.pop(); part; part = waiting.pop()) {
      const records = part.map((numbered) => numbered.record);
      try {
        note(imported, part, await this.#add(records, newKey(), options));
      } catch (error) {
        if (!(error instanceof InvalidError || error instanceof ConflictError)) throw error;
        const [first, second] = part;
        const half = Math.floor(part.length / 2);
        if (first && !second) reject(imported, first.index, error.detail || error.message);
        else waiting.push(part.slice(half), part.slice(0, half));
      }
    }
  }

  async #add(records: WrittenRecord[], idempotencyKey: string, options: CallOptions): Promise<models.Accepted> {
    return this.transport.fetch({ ...this.request(options, "POST", "records"), body: { records }, idempotencyKey });
  }

  /** Returns the verdict, the evidence for a model of yours (`pack.text`), and a short answer if it is likely right. */
  async ask(question: string, options: AskOptions = {}): Promise<models.QueryResponse> {
    return this.transport.fetch(this.#question(question, options));
  }

  /**
   * Asks, and yields the steps of a strategy as it makes them, and at the end the response. If the caller stops reading or aborts
   * the signal, the server gives up the question too.
   */
  async *askSteps(question: string, options: AskOptions = {}): AsyncGenerator<AskEvent, void, undefined> {
    for await (const { name, data } of this.transport.events(this.#question(question, options))) {
      switch (name) {
        case "step":
          yield { type: "step", step: readJson(data) as models.PathStep };
          break;
        case "response":
          yield { type: "response", response: readJson(data) as models.QueryResponse };
          return;
        case "problem":
          throw errorOf(200, "", data);
        default: // An event of a newer server.
      }
    }
    throw new UnexpectedResponseError("the stream ended without a response");
  }

  #question(question: string, options: AskOptions): Request {
    const { filter, strategy, limits, style, explain, ranked, metadata, verbatim, answer } = options;
    const budget = { ...(options.tokens === undefined ? {} : { tokens: options.tokens }), ...options.budget };
    const body = {
      question,
      budget,
      filter,
      strategy,
      limits,
      style,
      explain,
      ranked,
      metadata,
      verbatim,
      answer,
      after: watermarkOf(options.after),
      as_of: moment(options.asOf),
      asked_at: moment(options.askedAt),
    };
    const extraMs = budget.ms ?? (budget.model_calls ? MODEL_QUESTION_MS : QUESTION_MS);
    return { ...this.request(options, "POST", "query"), body, repeatable: true, extraMs };
  }

  /**
   * Returns what a message brings to mind that is worth saying unasked; mostly nothing, and `silent` says why.
   *
   * A hint is said once in a session, so a call whose response was lost is not sent again.
   */
  async recall(message: string, options: RecallOptions = {}): Promise<models.RecallResponse> {
    const { actor, session, limit, filter, sensitive, budget } = options;
    const given = { message, actor, session, limit, filter, sensitive, budget };
    const body = { ...given, after: watermarkOf(options.after), at: moment(options.at) };
    const extraMs = budget?.ms ?? (budget?.model_calls ? MODEL_QUESTION_MS : QUESTION_MS);
    return this.transport.fetch({ ...this.request(options, "POST", "recall"), body, repeatable: false, extraMs });
  }

  /** Says that these hints are not wanted again, in any session. */
  async dismiss(hints: Iterable<string | models.Hint>, options: CallOptions & { session?: string } = {}): Promise<void> {
    const ids = Array.from(hints, (hint) => (typeof hint === "string" ? hint : hint.id));
    const body: models.Dismissal = { hints: ids, session: options.session };
    await this.transport.send({ ...this.request(options, "POST", "recall", "dismiss"), body, repeatable: true });
  }

  /** Calls a tool; a call that cannot be used gives an `error` that a model can read. */
  async callTool(
    name: string,
    toolArguments: { [name: string]: unknown } = {},
    options: CallOptions & LabelOptions & { asOf?: Time } = {},
  ): Promise<models.ToolOutcome> {
    const params = { as_of: options.asOf, ...labelParams(options) };
    return this.transport.fetch({ ...this.request(options, "POST", "tools", name), params, body: toolArguments, repeatable: true });
  }

  /** Lists records, all or some, in the order in which they were stored. */
  records(
    options: ListOptions & LabelOptions & { session?: string; actor?: string; from?: Time; until?: Time } = {},
  ): AsyncGenerator<models.Record, void, undefined> {
    const { session, actor, from, until } = options;
    return this.list(options, { session, actor, from, until, ...labelParams(options) }, "records");
  }

  /** Returns one record, by your id or Mnemic's; of several versions the newest. */
  async record(id: string, options: CallOptions = {}): Promise<models.Record> {
    return this.get(options, {}, "records", id);
  }

  /**
   * Stores a record under an id, or, if there is one with other content, its next version, which takes its place. Session and actor
   * are those of the version before, unless the record says them. What the newest version says already changes nothing. With
   * `mustExist`, an id that does not exist is a `NotFoundError`.
   */
  async putRecord(id: string, record: RecordLike, options: WriteOptions & { mustExist?: boolean } = {}): Promise<models.Accepted> {
    const headers: { [name: string]: string } = options.mustExist ? { "if-match": "*" } : {};
    const request = { ...this.request(options, "PUT", "records", id), body: fieldsOf(record), headers };
    const accepted: models.Accepted = await this.transport.fetch(request);
    await this.waitIfWanted(accepted, options);
    return accepted;
  }

  /** Returns all versions of a record, the first one first. */
  async versions(id: string, options: CallOptions = {}): Promise<models.Record[]> {
    const list: models.RecordVersions = await this.get(options, {}, "records", id, "versions");
    return list.items;
  }

  /** Erases a record, all versions of it, with all that derives only from it, for good. */
  async eraseRecord(id: string, options: WriteOptions = {}): Promise<models.Curated> {
    const done: models.Curated = await this.transport.fetch(this.request(options, "DELETE", "records", id));
    await this.waitIfWanted(done, options);
    return done;
  }

  /**
   * Erases the records of a session with all that derives only from them, for good. Returns how many; fewer if a response was
   * lost and the request sent again.
   */
  async eraseSession(id: string, options: WriteOptions = {}): Promise<number> {
    for (let records = 0; ; ) {
      const erased: models.Erased = await this.transport.fetch(this.request(options, "DELETE", "sessions", id));
      records += erased.records;
      if (!erased.more) {
        await this.waitIfWanted(erased, options);
        return records;
      }
    }
  }

  /**
   * Erases the space and everything in it, for good. Returns true if every store has erased it, false if one is away: the server
   * then finishes it by itself.
   */
  async delete(options: CallOptions = {}): Promise<boolean> {
    return (await this.transport.send(this.request(options, "DELETE"))).status === 204;
  }

  /** Lists the receipts of what was erased under the name of this space. */
  erasures(options: ListOptions = {}): AsyncGenerator<models.Erasure, void, undefined> {
    return this.list(options, {}, "erasures");
  }

  /** Returns one receipt; it holds no word of what was erased. */
  async erasure(id: string, options: CallOptions = {}): Promise<models.Erasure> {
    return this.get(options, {}, "erasures", id);
  }

  /** Looks now, in every store, for what was erased, and says what is there. */
  async checkErasure(id: string, options: CallOptions = {}): Promise<models.ErasureCheck> {
    return this.transport.fetch({ ...this.request(options, "POST", "erasures", id, "check"), repeatable: true });
  }

  /**
   * Yields the events of the space as they happen, until the caller stops: what is searchable, what derives from it, what is erased.
   *
   * They begin when the stream opens, or after the event `lastEventId`. Once it was open, a stream that breaks off is opened again,
   * with pauses that grow to 45 seconds; the events of the meantime follow, or one of the kind `gap`. An event may come twice. A
   * refusal that does not pass, such as an `UnknownSpaceError`, is thrown.
   */
  events(options: EventsOptions = {}): AsyncGenerator<SpaceEvent, void, undefined> {
    return spaceEvents(this.transport, this.request(options, "GET", "events"), options);
  }

  /** Begins to derive the space again from its records. */
  async rebuild(options: CallOptions = {}): Promise<models.Rebuild> {
    return this.transport.fetch(this.request(options, "POST", "rebuild"));
  }

  /** Returns how far the latest rebuild is. */
  async rebuildProgress(options: CallOptions = {}): Promise<models.Rebuild> {
    return this.get(options, {}, "rebuild");
  }
}
