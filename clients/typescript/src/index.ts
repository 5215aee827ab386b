/** Mnemic: a long-term memory for LLM agents that you run yourself. */
export { Mnemic, type MnemicOptions, type NewKeyOptions } from "./client.js";
export {
  ConflictError,
  CursorError,
  DamagedError,
  DeadlineError,
  ExhaustedError,
  ForbiddenError,
  IdempotencyKeyInFlightError,
  IdempotencyKeyReusedError,
  InternalError,
  InvalidError,
  MnemicError,
  NotFoundError,
  NotLocalError,
  ProblemError,
  RecordsRejectedError,
  ShareExhaustedError,
  TooLargeError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedResponseError,
  UnknownRouteError,
  UnknownSpaceError,
  UnreachableError,
  WatermarkError,
} from "./errors.js";
export type { EventGap, EventsOptions, SpaceEvent } from "./event_stream.js";
export type { CurateOptions, DerivedListOptions, DerivedOptions, LabelOptions, ListOptions, Memory } from "./memory.js";
export type * as models from "./models.js";
export type { After, Imported, RecordDefaults, RecordLike, Rejected, WriteOptions } from "./records.js";
export type { CallOptions, Time } from "./request.js";
export { type AskEvent, type AskOptions, type RecallOptions, Space } from "./space.js";
