import type { Fact } from "../../api/types";
import { serverNow } from "../../lib/clock";

/** The values of one predicate of one subject. */
export interface Slot {
  subject: string;
  predicate: string;
  facts: Fact[];
  /** Whether a value of the predicate has ever ended another one. Two valid values are then a contradiction. */
  single: boolean;
}

/**
 * Returns true if the fact is valid at a moment, or now. The server returns the facts of an earlier moment as they were known
 * then.
 */
export function holds(it: Fact, asOf: string): boolean {
  const moment = asOf ? Date.parse(asOf) : serverNow();
  const until = it.valid_until ? Date.parse(it.valid_until) : Number.POSITIVE_INFINITY;
  return !it.withdrawn && Date.parse(it.valid_from.start) <= moment && moment < until;
}

/** Groups facts by subject and predicate: valid values first, then the newest. */
export function slots(facts: Fact[]): Slot[] {
  const groups = Map.groupBy(facts, (it) => JSON.stringify([it.subject, it.predicate]));
  return [...groups.values()].map((of) => {
    const first = of[0] as Fact;
    const sorted = of.toSorted(
      (a, b) =>
        Number(holds(b, "")) - Number(holds(a, "")) ||
        Date.parse(b.valid_from.start) - Date.parse(a.valid_from.start) ||
        (a.id < b.id ? -1 : 1),
    );
    return { subject: first.subject, predicate: first.predicate, facts: sorted, single: of.some((it) => it.retired_by) };
  });
}

/** Returns the moments at which a fact became known or was changed, in order. */
export function moments(facts: Fact[]): string[] {
  const all = new Set<string>();
  for (const it of facts) {
    all.add(it.recorded_at);
    if (it.closed_at) all.add(it.closed_at);
    for (const former of it.former ?? []) all.add(former.until);
  }
  return [...all].sort((a, b) => Date.parse(a) - Date.parse(b));
}
