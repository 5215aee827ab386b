/** Error classes by the `type` of the server's problem document (RFC 9457). */
import type * as models from "./models.js";

const PREFIX = "urn:mnemic:problem:";
/** Maximum number of characters of a response without a problem document that an error quotes. */
const DETAIL_MAX = 500;

/** The base class of all errors of this client. */
export class MnemicError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No response arrived: the server is unreachable, or it exceeded the timeout. */
export class UnreachableError extends MnemicError {}

/** The response is not from this API, or from a version that this client cannot read. */
export class UnexpectedResponseError extends MnemicError {}

/** The server refused the request or failed, and states the reason. */
export class ProblemError extends MnemicError {
  /** The complete problem document. */
  readonly problem: models.Problem;
  /** The kind of problem, `urn:mnemic:problem:...`; `about:blank` if the response had no problem document. */
  readonly type: string;
  /** The HTTP status. */
  readonly status: number;
  readonly detail: string;

  constructor(problem: models.Problem) {
    super(problem.detail ? `${problem.title}: ${problem.detail}` : problem.title);
    this.problem = problem;
    this.type = problem.type;
    this.status = problem.status;
    this.detail = problem.detail;
  }
}

/** The request is invalid; the detail names the field. */
export class InvalidError extends ProblemError {}
/** The body exceeds the server's limit. */
export class TooLargeError extends InvalidError {}
/** The watermark does not belong to this space. */
export class WatermarkError extends InvalidError {}
/** The cursor does not belong to this list with these filters. */
export class CursorError extends InvalidError {}
/** The idempotency key was used for another request. */
export class IdempotencyKeyReusedError extends InvalidError {}
/** The request has no key, or a key that the server does not know. */
export class UnauthorizedError extends ProblemError {}
/** The key lacks the right for this operation in this space. */
export class ForbiddenError extends ProblemError {}
/** A server without keys answers only requests from its own machine. */
export class NotLocalError extends ProblemError {}
/** The requested object does not exist. */
export class NotFoundError extends ProblemError {}
/** The space does not exist; `createSpace` creates it. */
export class UnknownSpaceError extends NotFoundError {}
/** The server does not have this route: it may be older than this client. */
export class UnknownRouteError extends NotFoundError {}
/** The request contradicts the stored data: the id belongs to other content. */
export class ConflictError extends ProblemError {}
/** The first request with this idempotency key is still being answered. */
export class IdempotencyKeyInFlightError extends ConflictError {}
/** The server exceeded the deadline; `problem.progress` reports the progress of writing. */
export class DeadlineError extends ProblemError {}
/** Too many requests at once; try again later. */
export class ExhaustedError extends ProblemError {}
/** Too many requests of this key at once; try again later. */
export class ShareExhaustedError extends ExhaustedError {}
/** A part of the service cannot be reached; try again later. */
export class UnavailableError extends ProblemError {}
/** Stored data are damaged, and the server does not return them; the operator runs `mnemic doctor`. */
export class DamagedError extends ProblemError {}
/** An internal error of the server; its log contains the cause. */
export class InternalError extends ProblemError {}

/** Some records of a batch were rejected. The others are on disk; `accepted` has the outcome of each. */
export class RecordsRejectedError extends MnemicError {
  readonly accepted: models.Accepted;
  readonly rejected: models.Item[];

  constructor(accepted: models.Accepted) {
    const rejected = accepted.items.filter((item) => item.status === "rejected");
    const first = rejected[0];
    const why = first?.problem ? `: ${first.problem.detail || first.problem.title}` : "";
    const which = `record ${first?.index} (${first?.id || "without an id"})`;
    super(`${rejected.length} of ${accepted.items.length} records were rejected; ${which}${why}`);
    this.accepted = accepted;
    this.rejected = rejected;
  }
}

type ProblemClass = new (problem: models.Problem) => ProblemError;

/** Classes by the last part of `type`. A test compares them with docs/ERRORS.md. */
export const CLASS_BY_TYPE: ReadonlyMap<string, ProblemClass> = new Map<string, ProblemClass>([
  ["beyond-bounds", InvalidError],
  ["conflict", ConflictError],
  ["cursor", CursorError],
  ["damaged", DamagedError],
  ["exhausted", ExhaustedError],
  ["forbidden", ForbiddenError],
  ["idempotency-key-in-flight", IdempotencyKeyInFlightError],
  ["idempotency-key-reused", IdempotencyKeyReusedError],
  ["incomplete", InvalidError],
  ["internal", InternalError],
  ["invalid", InvalidError],
  ["media-type", InvalidError],
  ["no-method", UnknownRouteError],
  ["no-route", UnknownRouteError],
  ["no-record", NotFoundError],
  ["no-admin-key", ConflictError],
  ["not-found", NotFoundError],
  ["not-implemented", UnknownRouteError],
  ["not-local", NotLocalError],
  ["protocol", InvalidError],
  ["quota-exhausted", ExhaustedError],
  ["record-exists", ConflictError],
  ["share-exhausted", ShareExhaustedError],
  ["syntax", InvalidError],
  ["timeout", DeadlineError],
  ["too-large", TooLargeError],
  ["unauthorized", UnauthorizedError],
  ["unavailable", UnavailableError],
  ["unknown-space", UnknownSpaceError],
  ["watermark", WatermarkError],
]);

/** Classes by status, for kinds of problem that a newer server adds, and for proxies. */
const CLASS_BY_STATUS: ReadonlyMap<number, ProblemClass> = new Map<number, ProblemClass>([
  [400, InvalidError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [409, ConflictError],
  [413, TooLargeError],
  [422, InvalidError],
  [429, ExhaustedError],
  [500, InternalError],
  [502, UnavailableError],
  [503, UnavailableError],
  [504, DeadlineError],
]);

/** Returns the error of a response with a status and a body; without a problem document, the error for the status. */
export function errorOf(status: number, statusText: string, body: string): ProblemError {
  const problem = problemIn(body) ?? {
    type: "about:blank",
    title: `${status} ${statusText}`.trim(),
    status,
    detail: body.slice(0, DETAIL_MAX),
  };
  const kind = problem.type.startsWith(PREFIX) ? CLASS_BY_TYPE.get(problem.type.slice(PREFIX.length)) : undefined;
  return new (kind ?? CLASS_BY_STATUS.get(status) ?? ProblemError)(problem);
}

/** Returns the problem document in a text, or undefined if the text is something else. */
function problemIn(text: string): models.Problem | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { type, title, status, detail } = value as Partial<models.Problem>;
  const complete =
    typeof type === "string" && typeof title === "string" && typeof status === "number" && typeof detail === "string";
  return complete ? (value as models.Problem) : undefined;
}
