import { useEffect, useState } from "preact/hooks";
import { Failure } from "../api/client";
import { revision } from "../api/session";

/** The state of data that are loaded from the server. `value` may have a part of the data while the rest is loading. */
export interface Loaded<Value> {
  value: Value | undefined;
  failure: Failure | undefined;
  loading: boolean;
}

/**
 * Loads data whenever `inputs` change, the server is back or the memory was changed. The previous data stay until new data
 * arrive. With another `turn`, the data are loaded again only when it changes.
 */
export function useLoaded<Value>(
  read: (signal: AbortSignal, show: (value: Value) => void) => Promise<Value>,
  inputs: unknown[],
  turn = revision.value,
): Loaded<Value> {
  const [state, setState] = useState<Loaded<Value>>({ value: undefined, failure: undefined, loading: true });
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

/** Returns a signal that is aborted when the component is removed, for example because the user leaves the view. */
export function useRemovalSignal(): AbortSignal {
  const [removal] = useState(() => new AbortController());
  useEffect(() => () => removal.abort(), []);
  return removal.signal;
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
