/** Data that a space derives from its records (units, facts, topics, pages, entities), and the curations of users. */
import { DeadlineError } from "./errors.js";
import type * as models from "./models.js";
import { type After, newKey, watermarkOf, type WriteOptions } from "./records.js";
import { type CallOptions, type Request, type Time, WAIT_SLICE_MS } from "./request.js";
import { spacePath, type Transport } from "./transport.js";

/** Options of every list. */
export interface ListOptions extends CallOptions {
  /** Items per request. */
  pageSize?: number;
}

/** Options of a list of derived objects. */
export interface DerivedListOptions extends ListOptions {
  /** Return the objects as known at this moment. */
  asOf?: Time;
}

/** Options of a call for one derived object. */
export interface DerivedOptions extends CallOptions {
  /** Return the object as known at this moment. */
  asOf?: Time;
}

/** Filters that restrict a list or a tool to some records. */
export interface LabelOptions {
  /** Only records that have all of these tags. */
  tags?: string[];
  /** Only records that match this filter of tags and metadata. */
  filter?: models.LabelFilter;
}

/** Options of a curation. */
export interface CurateOptions extends WriteOptions {
  /** The reason, in your words; it is stored in the audit log. */
  reason?: string;
  /** Your id of the curation: a repetition with the same id and content has no effect. */
  id?: string;
}

type Params = { [name: string]: unknown };
const PAGE_SIZE = 100;

/** Returns the query parameters of the filters for a list or a tool. */
export function labelParams({ tags, filter }: LabelOptions): Params {
  return { tag: tags, filter: filter && JSON.stringify(filter) };
}

/** The derived data of a space. */
export class Memory {
  readonly name: string;
  protected readonly transport: Transport;

  constructor(transport: Transport, name: string) {
    this.transport = transport;
    this.name = name;
  }

  /** Returns whether a write is searchable, and the number of records that wait to be written. */
  async progress(watermark?: After, options: CallOptions = {}): Promise<models.Progress> {
    return this.get(options, { watermark: watermarkOf(watermark) }, "progress");
  }

  /** Waits until a write is searchable; throws a `DeadlineError` if that takes longer than `waitMs`. */
  async wait(watermark: After, options: CallOptions & { waitMs?: number } = {}): Promise<models.Progress> {
    let left = Math.max(options.waitMs ?? this.transport.settings.waitMs, 0);
    for (;;) {
      const slice = Math.min(left, WAIT_SLICE_MS);
      const params = { watermark: watermarkOf(watermark), wait_ms: Math.round(slice) };
      try {
        return await this.transport.fetch({ ...this.request(options, "GET", "progress"), params, extraMs: slice });
      } catch (error) {
        left -= slice;
        if (!(error instanceof DeadlineError) || left <= 0) throw error;
      }
    }
  }

  /**
   * Lists the units in use, in the order of their latest changes. With filters on labels, lists the turns of matching records.
   */
  units(
    options: DerivedListOptions & LabelOptions & { session?: string; actor?: string } = {},
  ): AsyncGenerator<models.UnitView, void, undefined> {
    const { session, actor, asOf } = options;
    return this.list(options, { session, actor, as_of: asOf, ...labelParams(options) }, "units");
  }

  /** Returns one unit. */
  async unit(id: string, options: DerivedOptions = {}): Promise<models.UnitView> {
    return this.get(options, { as_of: options.asOf }, "units", id);
  }

  /** Lists facts, both valid and former ones; with `current: true` only the valid ones. */
  facts(
    options: DerivedListOptions & {
      subject?: string;
      predicate?: string;
      aspect?: models.Aspect;
      current?: boolean;
      /** Only facts found by rules, or only facts found by a language model. */
      origin?: models.Origin;
    } = {},
  ): AsyncGenerator<models.Fact, void, undefined> {
    const { subject, predicate, aspect, current, origin, asOf } = options;
    return this.list(options, { subject, predicate, aspect, current, origin, as_of: asOf }, "facts");
  }

  /** Returns one fact. */
  async fact(id: string, options: DerivedOptions = {}): Promise<models.Fact> {
    return this.get(options, { as_of: options.asOf }, "facts", id);
  }

  /** Lists people, places and other named things; `name` may be an alias or a role. */
  entities(options: DerivedListOptions & { name?: string } = {}): AsyncGenerator<models.Entity, void, undefined> {
    return this.list(options, { name: options.name, as_of: options.asOf }, "entities");
  }

  /** Returns one entity. */
  async entity(id: string, options: DerivedOptions = {}): Promise<models.Entity> {
    return this.get(options, { as_of: options.asOf }, "entities", id);
  }

  /** Lists topics. */
  topics(options: DerivedListOptions = {}): AsyncGenerator<models.Topic, void, undefined> {
    return this.list(options, { as_of: options.asOf }, "topics");
  }

  /** Returns one topic with the units nearest to its centre. */
  async topic(id: string, options: DerivedOptions = {}): Promise<models.TopicView> {
    return this.get(options, { as_of: options.asOf }, "topics", id);
  }

  /** Lists pages, without their sections. */
  pages(
    options: DerivedListOptions & { dimension?: models.Dimension; archived?: boolean } = {},
  ): AsyncGenerator<models.PageHead, void, undefined> {
    const { dimension, archived, asOf } = options;
    return this.list(options, { dimension, archived, as_of: asOf }, "pages");
  }

  /** Returns one page with its sections. */
  async page(id: string, options: DerivedOptions = {}): Promise<models.Page> {
    return this.get(options, { as_of: options.asOf }, "pages", id);
  }

  /** Lists merges, in which objects were treated as the same, with the reasons. */
  merges(options: ListOptions & { of?: models.MergeOf; undone?: boolean } = {}): AsyncGenerator<models.Merge, void, undefined> {
    return this.list(options, { of: options.of, undone: options.undone }, "merges");
  }

  /** Returns one merge. */
  async merge(id: string, options: CallOptions = {}): Promise<models.Merge> {
    return this.get(options, {}, "merges", id);
  }

  /** Lists the curations of users: the audit log. */
  curations(options: ListOptions = {}): AsyncGenerator<models.Curation, void, undefined> {
    return this.list(options, {}, "curations");
  }

  /** Returns one curation, by your id or by Mnemic's id. */
  async curation(id: string, options: CallOptions = {}): Promise<models.Curation> {
    return this.get(options, {}, "curations", id);
  }

  /** Replaces the value of a fact. */
  async correctFact(fact: string, object: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "correct_fact", fact, object }, options);
  }

  /** Withdraws a fact: it stays in the lists but is no longer used. */
  async retireFact(fact: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "retire_fact", fact }, options);
  }

  /** Undoes a merge: the two objects are separate again. */
  async undoMerge(merge: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "undo_merge", merge }, options);
  }

  /** Removes the label and the summary that a language model gave a topic. */
  async undoLabel(topic: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "undo_label", topic }, options);
  }

  /** Removes the summaries that a language model wrote of a page and its sections. */
  async undoSummary(page: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "undo_summary", page }, options);
  }

  /** Ranks a unit before others of its kind. */
  async pinUnit(unit: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "pin_unit", unit }, options);
  }

  /** Excludes a unit from search; its record stays. */
  async forgetUnit(unit: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "forget_unit", unit }, options);
  }

  /** Undoes an earlier curation; an erasure cannot be undone. */
  async undo(curation: string, options: CurateOptions = {}): Promise<models.Curated> {
    return this.#curate({ kind: "undo", curation }, options);
  }

  async #curate(act: models.NewAct, options: CurateOptions): Promise<models.Curated> {
    const body: models.NewCuration = { act, reason: options.reason, id: options.id };
    const request = { ...this.request(options, "POST", "curations"), body, idempotencyKey: newKey() };
    const done: models.Curated = await this.transport.fetch(request);
    await this.waitIfWanted(done, options);
    return done;
  }

  protected request(options: CallOptions, method: Request["method"], ...parts: string[]): Request {
    return { method, path: spacePath(this.name, ...parts), signal: options.signal, timeoutMs: options.timeoutMs };
  }

  protected async get<T>(options: CallOptions, params: Params, ...parts: string[]): Promise<T> {
    return this.transport.fetch({ ...this.request(options, "GET", ...parts), params });
  }

  protected list<T>(options: ListOptions, params: Params, part: string): AsyncGenerator<T, void, undefined> {
    return this.transport.pages({ ...this.request(options, "GET", part), params }, options.pageSize ?? PAGE_SIZE);
  }

  protected async waitIfWanted(watermark: After, { wait = false, ...options }: WriteOptions): Promise<void> {
    if (wait !== false) await this.wait(watermark, { ...options, waitMs: wait === true ? undefined : wait });
  }
}
