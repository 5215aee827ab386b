import { useEffect, useState } from "preact/hooks";
import { Failure } from "../api/client";
import { revision } from "../api/session";

/** How far something is that is read from the server. `value` may be there while more of it is read. */
export interface Loaded<Value> {
  value: Value | undefined;
  failure: Failure | undefined;
  loading: boolean;
}

/** Reads something whenever `inputs` change, the server is back or the memory was changed. What was read before stays until then. */
export function useLoaded<Value>(
  read: (signal: AbortSignal, show: (value: Value) => void) => Promise<Value>,
  inputs: unknown[],
): Loaded<Value> {
  const [state, setState] = useState<Loaded<Value>>({ value: undefined, failure: undefined, loading: true });
  const turn = revision.value;
  useEffect(() => {
    const stop = new AbortController();
    const show = (value: Value) => {
      if (!stop.signal.aborted) setState({ value, failure: undefined, loading: true });
    };
    setState((before) => ({ ...before, loading: true }));
    read(stop.signal, show).then(
      (value) => {
        if (!stop.signal.aborted) setState({ value, failure: undefined, loading: false });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const failure = error instanceof Failure ? error : new Failure(-1, String(error), "", "");
        setState((before) => ({ value: before.value, failure, loading: false }));
      },
    );
    return () => stop.abort();
  }, [...inputs, turn]);
  return state;
}

/** Returns `value` once it has not changed for `ms` milliseconds. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
