import { call, inSpace } from "./client";

/** A unit in the format of the tools. */
export interface SeenUnit {
  unit: string;
  text: string;
  actor: string;
  observed_at: string;
  grain: "turn" | "event" | "gist";
  tag?: string;
  external_ids: string[];
  /**
   * The relation, its label and its direction, from the point of view of the requested unit: `to` the other unit or `from` it.
   */
  relation?: string;
  label?: string;
  direction?: "to" | "from";
  /** The end of the relation: `it`, `its event` or `its gist`. */
  of?: string;
}

interface Outcome<Result> {
  result?: Result;
  error?: { code: string; message: string } | null;
}

interface ToolCall {
  name: string;
  body: object;
  asOf: string;
  signal: AbortSignal;
}

/** Calls a tool of the memory; returns undefined if the memory has no matching data. */
export async function callTool<Result>(space: string, { name, body, asOf, signal }: ToolCall): Promise<Result | undefined> {
  const query = asOf ? { as_of: asOf } : {};
  const outcome: Outcome<Result> = await call(inSpace(space, "tools", name), { method: "POST", body, query, signal });
  return outcome.result;
}

/** Returns the units that are related to a unit. */
export async function relatedTo(space: string, unit: string, limit: number, { asOf, signal }: Pick<ToolCall, "asOf" | "signal">): Promise<SeenUnit[]> {
  const found = await callTool<{ related?: SeenUnit[] }>(space, { name: "expand_unit", body: { unit, limit }, asOf, signal });
  return found?.related ?? [];
}
