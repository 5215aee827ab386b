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
  saysNothingIsLeft,
  watermarkOf,
  type WriteOptions,
  type WrittenRecord,
} from "./records.js";
import type { CallOptions, Request, Time } from "./request.js";
import { readJson } from "./transport.js";

/** Records per request of an import. */
const IMPORT_BATCH = 500;
/** Milliseconds that the server spends on a question, without and with a language model, unless its budget sets another time. */
const QUESTION_MS = 2_000;
const MODEL_QUESTION_MS = 30_000;

/** Options of a question. */
export interface AskOptions extends CallOptions {
  /** Maximum number of tokens (o200k) of evidence; short for the same field in `budget`. */
  tokens?: number;
  budget?: models.Budget;
  filter?: models.Filter;
  strategy?: models.Strategy;
  /** Limits of the loop of a strategy; needs `model_calls` in the budget. */
  limits?: models.Limits;
  /** Form of the answer that a language model of the server writes; needs `model_calls` in the budget. */
  style?: models.AnswerStyle;
  /** A write that the question must see: its watermark, or the result of `remember`. */
  after?: After;
  /** Use only data known at this moment. */
  asOf?: Time;
  /** The "now" of relative times in the question. */
  askedAt?: Time;
  /** Whether to return an answer in addition to the verdict and the evidence. Default: true. */
  answer?: boolean;
  /** Number of units to explain. */
  explain?: number;
  /** Number of units to return in rank order. */
  ranked?: number;
  /** Whether to return the metadata of the records in the evidence. */
  metadata?: boolean;
  /** Whether the evidence has only original texts of records, word for word. Default: true. */
  verbatim?: boolean;
}

/** An event of a question with steps: each step as it happens, and the response at the end. */
export type AskEvent =
  | { type: "step"; step: models.PathStep }
  | { type: "response"; response: models.QueryResponse };

/** Options of recall. */
export interface RecallOptions extends CallOptions {
  /** The speaker of the message. */
  actor?: string;
  /** The session; a hint is not repeated in the same session. */
  session?: string;
  after?: After;
  /** Time of the message; later data are not used. */
  at?: Time;
  /** Maximum number of hints to return. */
  limit?: number;
  /** Use only records that match this filter of tags and metadata. */
  filter?: models.LabelFilter;
  /** Whether to include sensitive hints (health, money, grief). */
  sensitive?: boolean;
  budget?: models.RecallBudget;
}

/** An isolated memory: of a user, an agent or a project. */
export class Space extends Memory {
  /** Creates the space if it does not exist. */
  async create(options: CallOptions = {}): Promise<models.Space> {
    return this.transport.fetch(this.request(options, "PUT"));
  }

  /** Returns the description of the space and its counts. */
  async info(options: CallOptions = {}): Promise<models.Space> {
    return this.get(options, {});
  }

  /**
   * Stores a text, a record, or several. They are on disk when the promise resolves, and searchable a moment later; with `wait`,
   * the promise resolves when they are searchable. Facts, entities and pages follow later.
   *
   * `actor`, `session`, `observedAt`, `metadata` and `tags` apply to records that do not set them. Throws a
   * `RecordsRejectedError` if some records were rejected; the others are stored.
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
   * Stores many records, in batches of at most `batch`. Records without an id get one derived from their position and content, so
   * a repeated import stores nothing twice. Invalid records are left out and listed in the result. Chat messages that the server
   * does not store (system, developer and empty ones) are counted in `leftOut`.
   */
  async importRecords(
    source: Iterable<RecordLike> | AsyncIterable<RecordLike>,
    options: WriteOptions & { batch?: number } = {},
  ): Promise<Imported> {
    if (typeof source === "string") throw new TypeError("importRecords takes records, not the name of a file");
    const imported: Imported = { accepted: 0, duplicates: 0, rejectedCount: 0, rejected: [], leftOut: 0, watermark: undefined };
    for await (const batch of batchesOf(source, options.batch ?? IMPORT_BATCH)) await this.#import(batch, imported, options);
    if (imported.watermark !== undefined) await this.waitIfWanted(imported.watermark, options);
    return imported;
  }

  /** Sends a batch. A batch that is refused as a whole is halved until each refused record is alone. */
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
        if (first && !second && saysNothingIsLeft(error.detail)) imported.leftOut += 1;
        else if (first && !second) reject(imported, { index: first.index, id: undefined, reason: error.detail || error.message });
        else waiting.push(part.slice(half), part.slice(0, half));
      }
    }
  }

  async #add(records: WrittenRecord[], idempotencyKey: string, options: CallOptions): Promise<models.Accepted> {
    return this.transport.fetch({ ...this.request(options, "POST", "records"), body: { records }, idempotencyKey });
  }

  /** Returns the verdict, the evidence for your own model (`pack.text`), and a short answer if it is likely to be right. */
  async ask(question: string, options: AskOptions = {}): Promise<models.QueryResponse> {
    return this.transport.fetch(this.#question(question, options));
  }

  /**
   * Asks a question; yields each step of the strategy as it happens, and the response at the end. If the caller stops iterating
   * or aborts the signal, the server stops processing the question too.
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
   * Returns hints for a message: related memories that are worth mentioning without a question. Most messages give none, and
   * `silent` states the reason.
   *
   * A hint is given once in a session, so the call is not repeated if its response was lost.
   */
  async recall(message: string, options: RecallOptions = {}): Promise<models.RecallResponse> {
    const { actor, session, limit, filter, sensitive, budget } = options;
    const given = { message, actor, session, limit, filter, sensitive, budget };
    const body = { ...given, after: watermarkOf(options.after), at: moment(options.at) };
    const extraMs = budget?.ms ?? (budget?.model_calls ? MODEL_QUESTION_MS : QUESTION_MS);
    return this.transport.fetch({ ...this.request(options, "POST", "recall"), body, repeatable: false, extraMs });
  }

  /** Dismisses hints, so that they are not given again in any session. */
  async dismiss(hints: Iterable<string | models.Hint>, options: CallOptions & { session?: string } = {}): Promise<void> {
    const ids = Array.from(hints, (hint) => (typeof hint === "string" ? hint : hint.id));
    const body: models.Dismissal = { hints: ids, session: options.session };
    await this.transport.send({ ...this.request(options, "POST", "recall", "dismiss"), body, repeatable: true });
  }

  /** Calls a tool; an invalid call returns an `error` that a model can read. */
  async callTool(
    name: string,
    toolArguments: { [name: string]: unknown } = {},
    options: CallOptions & LabelOptions & { asOf?: Time } = {},
  ): Promise<models.ToolOutcome> {
    const params = { as_of: options.asOf, ...labelParams(options) };
    return this.transport.fetch({ ...this.request(options, "POST", "tools", name), params, body: toolArguments, repeatable: true });
  }

  /** Lists all or filtered records, in the order in which they were stored. */
  records(
    options: ListOptions & LabelOptions & { session?: string; actor?: string; from?: Time; until?: Time } = {},
  ): AsyncGenerator<models.Record, void, undefined> {
    const { session, actor, from, until } = options;
    return this.list(options, { session, actor, from, until, ...labelParams(options) }, "records");
  }

  /** Returns one record, by your id or by Mnemic's id; the newest if it has several versions. */
  async record(id: string, options: CallOptions = {}): Promise<models.Record> {
    return this.get(options, {}, "records", id);
  }

  /**
   * Stores a record under an id. If a record with other content exists, stores the next version, which replaces it; session and
   * actor are those of the previous version unless the record sets them. Content equal to the newest version changes nothing.
   * With `mustExist`, an id that does not exist throws a `NotFoundError`.
   *
   * The call has no `Idempotency-Key`: a repeated request changes nothing, because its content is that of the newest version.
   */
  async putRecord(id: string, record: RecordLike, options: WriteOptions & { mustExist?: boolean } = {}): Promise<models.Accepted> {
    const headers: { [name: string]: string } = options.mustExist ? { "if-match": "*" } : {};
    const request = { ...this.request(options, "PUT", "records", id), body: fieldsOf(record), headers };
    const accepted: models.Accepted = await this.transport.fetch(request);
    await this.waitIfWanted(accepted, options);
    return accepted;
  }

  /** Returns all versions of a record, oldest first. */
  async versions(id: string, options: CallOptions = {}): Promise<models.Record[]> {
    const request = this.request(options, "GET", "records", id, "versions");
    const versions: models.Record[] = [];
    for await (const version of this.transport.pages<models.Record>(request, 1000)) versions.push(version);
    return versions;
  }

  /**
   * Erases a record with all its versions and all data that derive only from it, permanently.
   *
   * Your id of one version, such as `a#v2`, erases all versions too. Mnemic's id erases only the version that it names.
   *
   * Returns undefined if a repeated request finds no record with this id after the response of an earlier one was lost, or was 502
   * or 503, which a proxy also sends if it lost the response. If the earlier request erased the record, `erasures` lists its
   * receipt; there is no watermark to wait for.
   */
  async eraseRecord(id: string, options: WriteOptions = {}): Promise<models.Curated | undefined> {
    const request = { ...this.request(options, "DELETE", "records", id), doneIfGone: true };
    const done: models.Curated | undefined = await this.transport.fetch(request);
    if (done) await this.waitIfWanted(done, options);
    return done;
  }

  /**
   * Erases the records of a session with all data that derive only from them, permanently. Returns the number of erased records;
   * it is too low if a response was lost and the request was repeated.
   */
  async eraseSession(id: string, options: WriteOptions = {}): Promise<number> {
    const request = { ...this.request(options, "DELETE", "sessions", id), doneIfGone: true };
    for (let records = 0; ; ) {
      const erased: models.Erased | undefined = await this.transport.fetch(request);
      // An earlier request whose response was lost has erased the rest.
      if (!erased) return records;
      records += erased.records;
      if (!erased.more) {
        await this.waitIfWanted(erased, options);
        return records;
      }
      // Until then, the next request would select the same records.
      await this.wait(erased, { signal: options.signal, timeoutMs: options.timeoutMs });
    }
  }

  /**
   * Erases the space with all its data, permanently. Returns true if every store has erased it, and false if a store is
   * unreachable or the erasure takes long; the server then completes the erasure later.
   */
  async delete(options: CallOptions = {}): Promise<boolean> {
    return (await this.transport.send(this.request(options, "DELETE"))).status === 204;
  }

  /** Lists the receipts of erasures in spaces with this name. */
  erasures(options: ListOptions = {}): AsyncGenerator<models.Erasure, void, undefined> {
    return this.list(options, {}, "erasures");
  }

  /** Returns one receipt; it contains no erased text. */
  async erasure(id: string, options: CallOptions = {}): Promise<models.Erasure> {
    return this.get(options, {}, "erasures", id);
  }

  /** Searches every store for the erased data now, and returns the result. */
  async checkErasure(id: string, options: CallOptions = {}): Promise<models.ErasureCheck> {
    return this.transport.fetch({ ...this.request(options, "POST", "erasures", id, "check"), repeatable: true });
  }

  /**
   * Yields the events of the space as they happen, until the caller stops: new searchable records, new derived data, erasures.
   *
   * The events begin when the stream opens, or after the event `lastEventId`. After the first connection, a broken stream is
   * opened again, with pauses of up to 45 seconds; the missed events follow, or an event of the kind `gap`. An event may arrive
   * twice. A permanent refusal, such as an `UnknownSpaceError`, is thrown.
   */
  events(options: EventsOptions = {}): AsyncGenerator<SpaceEvent, void, undefined> {
    return spaceEvents(this.transport, this.request(options, "GET", "events"), options);
  }

  /** Starts a rebuild of the space from its records. */
  async rebuild(options: CallOptions = {}): Promise<models.Rebuild> {
    return this.transport.fetch(this.request(options, "POST", "rebuild"));
  }

  /** Returns the progress of the latest rebuild that this server process started. */
  async rebuildProgress(options: CallOptions = {}): Promise<models.Rebuild> {
    return this.get(options, {}, "rebuild");
  }
}
