/** Errors as classes, by the `type` of the problem document (RFC 9457) that the server answers with. */
import type * as models from "./models.js";

const PREFIX = "urn:mnemic:problem:";
/** Characters of a response without a problem document that an error repeats. */
const DETAIL_MAX = 500;

/** The base of every error of this client. */
export class MnemicError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No response came: the server is away, or it took longer than the timeout. */
export class UnreachableError extends MnemicError {}

/** The response is not one of this API, or is of a version of it that this client cannot read. */
export class UnexpectedResponseError extends MnemicError {}

/** The server refused the request or failed, and says why. */
export class ProblemError extends MnemicError {
  /** The document whole. */
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

/** The request cannot be used; the detail names the field. */
export class InvalidError extends ProblemError {}
/** The body is larger than the server takes. */
export class TooLargeError extends InvalidError {}
/** The watermark does not belong to this space. */
export class WatermarkError extends InvalidError {}
/** The cursor does not belong to this list with these filters. */
export class CursorError extends InvalidError {}
/** The idempotency key was used for another request. */
export class IdempotencyKeyReusedError extends InvalidError {}
/** There is no key, or the server does not know it. */
export class UnauthorizedError extends ProblemError {}
/** The key may not do this in this space. */
export class ForbiddenError extends ProblemError {}
/** A server without keys answers its own machine only. */
export class NotLocalError extends ProblemError {}
/** What was asked for does not exist. */
export class NotFoundError extends ProblemError {}
/** The space does not exist; `createSpace` makes it. */
export class UnknownSpaceError extends NotFoundError {}
/** The server does not have this route: it may be older than this client. */
export class UnknownRouteError extends NotFoundError {}
/** The request contradicts what is stored: the id belongs to other content. */
export class ConflictError extends ProblemError {}
/** The first request with this idempotency key is still being answered. */
export class IdempotencyKeyInFlightError extends ConflictError {}
/** The time ran out on the server; `problem.progress` says how far writing is. */
export class DeadlineError extends ProblemError {}
/** Too many requests at once; try again later. */
export class ExhaustedError extends ProblemError {}
/** Too many requests of this key at once; try again later. */
export class ShareExhaustedError extends ExhaustedError {}
/** A part of the service cannot be reached; try again later. */
export class UnavailableError extends ProblemError {}
/** Something that is stored is damaged, and the server does not answer with it; the operator runs `mnemic doctor`. */
export class DamagedError extends ProblemError {}
/** A defect of the server; its log has the cause. */
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
  ["share-exhausted", ShareExhaustedError],
  ["syntax", InvalidError],
  ["timeout", DeadlineError],
  ["too-large", TooLargeError],
  ["unauthorized", UnauthorizedError],
  ["unavailable", UnavailableError],
  ["unknown-space", UnknownSpaceError],
  ["watermark", WatermarkError],
]);

/** Classes by status: for kinds of problem that a newer server adds, and for proxies between. */
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

/** Returns the error that a response with a status and a body reports; without a problem document, one by its status. */
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

/** Returns the problem document that a text is, or undefined if it is something else. */
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
