import { useState } from "preact/hooks";
import { Failure, call, inSpace } from "../api/client";
import { readAgain } from "../api/session";
import type { Curated, NewAct, Progress } from "../api/types";
import { useRemovalSignal } from "../lib/load";
import { t } from "../strings";
import { Trouble } from "./parts";

/** Milliseconds that the server waits until a write is searchable. */
const PATIENCE = 10_000;
/** Status of a response to a wait that was too short. */
const TOO_LATE = 504;
/** Statuses after which the wait is repeated: no response, a full server, a server that a proxy cannot reach, a short wait. */
const TEMPORARY = [0, 429, 502, 503, TOO_LATE];
/** Pause before a repeated wait, and the longest pause that a server can request, in milliseconds. */
const PAUSE = 1_500;
const PAUSE_MAX = 60_000;
/** Time after which facts usually follow a write, in milliseconds. */
const SETTLING = 1_200;

/**
 * Waits until a write that the server accepted is searchable, however long that takes, even if the server is full or away for a
 * while. Throws a failure if the server gave the write up, or if the wait failed and the write is therefore not confirmed. Throws
 * the reason of `signal` when it is aborted.
 */
export async function written(space: string, watermark: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await call<Progress>(inSpace(space, "progress"), { query: { watermark, wait_ms: PATIENCE }, signal });
      return;
    } catch (error) {
      if (error instanceof Failure && error.deadLetter) throw error;
      if (signal.aborted || !(error instanceof Failure && TEMPORARY.includes(error.status))) {
        // The change may already be made, or may be made soon.
        showChange();
        throw signal.aborted ? error : unconfirmed(error);
      }
      const pause = Math.min(Math.max(error.retryAfterMs, PAUSE), PAUSE_MAX);
      if (error.status !== TOO_LATE) await new Promise((done) => setTimeout(done, pause));
    }
  }
}

/** Returns the failure of a write that the server accepted but that `error` kept the page from confirming. */
function unconfirmed(error: unknown): Failure {
  const { status, message, kind } = error instanceof Failure ? error : new Failure(-1, String(error), "", "");
  return new Failure(status, t.trouble.unconfirmed, t.trouble.unconfirmedHint(message), kind);
}

/** Makes the views load their data again after a write: at once, and again when derived data usually exist. */
export function showChange(): void {
  readAgain();
  setTimeout(readAgain, SETTLING);
}

/**
 * Sends a curation, waits until the memory reflects it, and returns the entry that the server stored. `signal` ends the wait, not
 * the curation.
 */
export async function decide(space: string, act: NewAct, signal: AbortSignal, reason = ""): Promise<Curated> {
  const curated = await call<Curated>(inSpace(space, "curations"), { method: "POST", body: { act, reason } });
  await written(space, curated.watermark, signal);
  showChange();
  return curated;
}

interface Props {
  space: string;
  label: string;
  act: NewAct;
  reason?: string;
  kind?: string;
}

/** A button for a curation; afterwards it offers to undo the curation. */
export function Act({ space, label, act, reason, kind = "" }: Props) {
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Curated>();
  const [failure, setFailure] = useState<Failure>();
  const removal = useRemovalSignal();
  const run = async (next: NewAct, keep: boolean) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const curated = await decide(space, next, removal, reason);
      setDone(keep ? curated : undefined);
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  return (
    <>
      {done ? (
        <span role="status">
          {t.act.done(label)}{" "}
          <button type="button" disabled={busy} onClick={() => run({ kind: "undo", curation: done.curation.id }, false)}>
            {t.act.undo}
          </button>
        </span>
      ) : (
        <button type="button" class={kind} disabled={busy} onClick={() => run(act, true)}>
          {busy ? t.act.busy : label}
        </button>
      )}
      {failure && <Trouble failure={failure} />}
    </>
  );
}
