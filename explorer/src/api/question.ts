import { t } from "../strings";
import { Failure, inSpace, send } from "./client";
import { eventsOf } from "./events";
import type { PathStep, Problem, QueryRequest, QueryResponse } from "./types";

/**
 * A step of a strategy with its duration in milliseconds: from the previous step, or from the question, until the page received
 * it.
 */
export interface TimedStep extends PathStep {
  took: number;
}

/** A question in progress: the steps so far, and the response when it has arrived. */
export interface Progressing {
  steps: TimedStep[];
  response: QueryResponse | undefined;
}

/**
 * Asks a question, passes each step to `show` as soon as the server sends it, and returns the steps with the response. The failure
 * of a question that may cost calls of a language model is never `unreachable`, so that only the user asks such a question again.
 */
export async function ask(
  space: string,
  body: QueryRequest,
  signal: AbortSignal,
  show: (soFar: Progressing) => void,
): Promise<Progressing> {
  let before = performance.now();
  const steps: TimedStep[] = [];
  const mayCost = (body.budget?.model_calls ?? 0) > 0;
  try {
    const stream = await send(inSpace(space, "query"), "text/event-stream", { method: "POST", body, signal });
    for await (const { name, data } of eventsOf(stream)) {
      if (name === "response") return { steps, response: JSON.parse(data) as QueryResponse };
      if (name === "problem") {
        const problem = JSON.parse(data) as Problem;
        throw new Failure(problem.status, problem.title, problem.detail, problem.type);
      }
      if (name !== "step") continue;
      const now = performance.now();
      steps.push({ ...(JSON.parse(data) as PathStep), took: now - before });
      before = now;
      show({ steps: [...steps], response: undefined });
    }
  } catch (error) {
    // A server that sent nothing may have begun to answer: it sends the headers of the response with the first step.
    const mayBeBrokenOff = error instanceof Failure && error.unreachable && mayCost;
    if (signal.aborted || (error instanceof Failure && !mayBeBrokenOff)) throw error;
  }
  // The connection ended before the response. The server may have called a language model already, so this failure differs from
  // that of an unreachable server: the page does not ask again by itself.
  throw new Failure(-1, t.trouble.brokenOff, t.trouble.brokenOffHint, "");
}
