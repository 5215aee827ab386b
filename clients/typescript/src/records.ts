/** Records in the form in which callers write them, and batches of them. */
import { webcrypto } from "#webcrypto";
import type * as models from "./models.js";
import type { CallOptions, Time } from "./request.js";

/** A text, a record, or a record from a list. Fields have the names of the API; `observed_at` may be a `Date`. */
export type RecordLike = string | (Omit<models.NewRecord, "observed_at"> & { observed_at?: Time | null }) | models.Record;
/** A reference to a write: a watermark, or a response that contains one. */
export type After = string | { watermark: string };

/** Bytes of one request of an import, far below the server's limit. */
const BATCH_BYTES = 1 << 20;
const REJECTED_MAX = 1_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Values for records that do not set them. */
export interface RecordDefaults {
  actor?: string;
  session?: string;
  observedAt?: Time;
  metadata?: { [name: string]: string };
  tags?: string[];
}

/** Options of a call that writes. */
export interface WriteOptions extends CallOptions {
  /** Whether to wait until the write is searchable; a number is the timeout in milliseconds. */
  wait?: boolean | number;
}

/** A record that an import left out. */
export interface Rejected {
  /** Position in the import, from 0; undefined if the server does not say which record of the batch it is. */
  index: number | undefined;
  /** The id by which the server reports the record; a tool call of a chat message has an id of its own. */
  id: string | undefined;
  reason: string;
}

/** The result of an import. */
export interface Imported {
  accepted: number;
  duplicates: number;
  rejectedCount: number;
  /** The first thousand rejected records. */
  rejected: Rejected[];
  /** Chat messages that the server does not store: system and developer messages, and empty ones. */
  leftOut: number;
  /** Watermark of the last accepted batch. */
  watermark: string | undefined;
}

/** A record with its position in the import, and its size in bytes. */
export interface Numbered {
  index: number;
  record: WrittenRecord;
  bytes: number;
}

/** The fields of a record as they are sent. */
export type WrittenRecord = { [name: string]: unknown };

/** Returns the records to store as a list; the fields of a record take precedence over the defaults. */
export function recordsOf(what: RecordLike | Iterable<RecordLike>, defaults: RecordDefaults): WrittenRecord[] {
  const several = typeof what === "object" && Symbol.iterator in what ? what : [what];
  const shared = {
    actor: defaults.actor,
    session: defaults.session,
    observed_at: moment(defaults.observedAt),
    metadata: defaults.metadata,
    tags: defaults.tags,
  };
  return Array.from(several, (record) => ({ ...withoutUndefined(shared), ...fieldsOf(record) }));
}

/** Returns the fields of a record, without Mnemic's own id, which is derived from the caller's id. */
export function fieldsOf(record: RecordLike): WrittenRecord {
  if (typeof record === "string") return { text: record };
  const fields: WrittenRecord = withoutUndefined({ ...record });
  if (fields.observed_at instanceof Date) fields.observed_at = fields.observed_at.toISOString();
  if (typeof fields.record === "string" && UUID.test(fields.record)) delete fields.record;
  return fields;
}

function withoutUndefined(fields: object): WrittenRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Returns a moment as RFC 3339. */
export function moment(time: Time | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

/** Returns the watermark of a write. */
export function watermarkOf(after: After | undefined): string | undefined {
  return typeof after === "object" ? after.watermark : after;
}

/** Counts a record that is left out. */
export function reject(imported: Imported, rejected: Rejected): void {
  imported.rejectedCount += 1;
  if (imported.rejected.length < REJECTED_MAX) imported.rejected.push(rejected);
}

/** Counts the outcomes of a batch. */
export function note(imported: Imported, batch: Numbered[], accepted: models.Accepted): void {
  for (const item of accepted.items) {
    if (item.status === "accepted") imported.accepted += 1;
    else if (item.status === "duplicate") imported.duplicates += 1;
    else {
      const reason = item.problem?.detail || item.problem?.title || "rejected";
      reject(imported, { index: batch[item.index]?.index, id: item.id || undefined, reason });
    }
  }
  imported.leftOut += accepted.left_out ?? 0;
  imported.watermark = accepted.watermark;
}

/**
 * Returns true for the detail of the refusal of a request of which nothing is left: all its elements are chat messages that the
 * server does not store.
 */
export function saysNothingIsLeft(detail: string): boolean {
  return detail.startsWith("records: ") && detail.endsWith("this request has 0");
}

/** Yields the records with ids, in batches of at most `most` records and one MiB; a longer record is a separate batch. */
export async function* batchesOf(
  source: Iterable<RecordLike> | AsyncIterable<RecordLike>,
  most: number,
): AsyncGenerator<Numbered[], void, undefined> {
  let batch: Numbered[] = [];
  let bytes = 0;
  let index = 0;
  for await (const record of source) {
    const next = await numbered(index, fieldsOf(record));
    if (batch.length > 0 && (batch.length >= most || bytes + next.bytes > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(next);
    bytes += next.bytes;
    index += 1;
  }
  if (batch.length > 0) yield batch;
}

/** Returns a record with an id: its own, or one derived from its position and content, by the rule of the Python client. */
async function numbered(index: number, record: WrittenRecord): Promise<Numbered> {
  const content = new TextEncoder().encode(canonical(record));
  if (record.id !== undefined && record.id !== null) return { index, record, bytes: content.length };
  const place = new Uint8Array(8);
  new DataView(place.buffer).setBigUint64(0, BigInt(index + 1));
  const digest = await sha256(place, content);
  return { index, record: { ...record, id: `line-${digest.slice(0, 16)}` }, bytes: content.length };
}

/**
 * Returns a value in the format of Python's `json.dumps(value, sort_keys=True)`, so that both clients give records the same ids.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${fields.map(([name, field]) => `${canonical(name)}: ${canonical(field)}`).join(", ")}}`;
  }
  const text = JSON.stringify(value) ?? "null";
  return text.replace(/[\u007f-\uffff]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns the SHA-256 of the concatenated bytes, in hex digits. */
export async function sha256(...parts: Uint8Array[]): Promise<string> {
  if (!webcrypto?.subtle) {
    throw new TypeError("this page has no Web Crypto: serve it over https, or give every record an id");
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  const digest = new Uint8Array(await webcrypto.subtle.digest("SHA-256", whole));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns a new idempotency key: 128 random bits in hex digits. `randomUUID` is missing in pages without https. */
export function newKey(): string {
  const bits = webcrypto.getRandomValues(new Uint8Array(16));
  return Array.from(bits, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
