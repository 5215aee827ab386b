import { call, inSpace } from "./client";

/** A unit as the tools describe it. */
export interface SeenUnit {
  unit: string;
  text: string;
  actor: string;
  observed_at: string;
  grain: "turn" | "event" | "gist";
  tag?: string;
  external_ids: string[];
  /** The relation, its label and its direction as seen from the unit that was asked about: `to` the other one or `from` it. */
  relation?: string;
  label?: string;
  direction?: "to" | "from";
  /** Which end the relation belongs to: `it`, `its event` or `its gist`. */
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

/** Calls a tool of the memory; returns nothing if the memory has nothing about it. */
export async function callTool<Result>(space: string, { name, body, asOf, signal }: ToolCall): Promise<Result | undefined> {
  const query = asOf ? { as_of: asOf } : {};
  const outcome: Outcome<Result> = await call(inSpace(space, "tools", name), { method: "POST", body, query, signal });
  return outcome.result;
}

/** Returns the units that a unit is related to. */
export async function relatedTo(space: string, unit: string, limit: number, { asOf, signal }: Pick<ToolCall, "asOf" | "signal">): Promise<SeenUnit[]> {
  const found = await callTool<{ related?: SeenUnit[] }>(space, { name: "expand_unit", body: { unit, limit }, asOf, signal });
  return found?.related ?? [];
}
