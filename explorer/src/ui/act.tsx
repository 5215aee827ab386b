import { useState } from "preact/hooks";
import { Failure, call, inSpace } from "../api/client";
import { readAgain } from "../api/session";
import type { Curated, NewAct, Progress } from "../api/types";
import { t } from "../strings";
import { Trouble } from "./parts";

/** Milliseconds that the server waits until a write is searchable. */
const PATIENCE = 10_000;
/** Status of a response to a wait that was too short. */
const TOO_LATE = 504;
/** Time after which facts usually follow a write, in milliseconds. */
const SETTLING = 1_200;

/** Waits until a write is searchable, however long that takes. */
export async function written(space: string, watermark: string): Promise<void> {
  for (;;) {
    try {
      await call<Progress>(inSpace(space, "progress"), { query: { watermark, wait_ms: PATIENCE } });
      return;
    } catch (error) {
      if (!(error instanceof Failure && error.status === TOO_LATE)) throw error;
    }
  }
}

/** Waits until a write is searchable, gives derived data time to follow, then makes the views load their data again. */
export async function settle(space: string, watermark: string): Promise<void> {
  await call<Progress>(inSpace(space, "progress"), { query: { watermark, wait_ms: PATIENCE } }).catch(() => undefined);
  readAgain();
  setTimeout(readAgain, SETTLING);
}

/** Sends a curation, and returns the entry that the server stored. */
export async function decide(space: string, act: NewAct, reason = ""): Promise<Curated> {
  const curated = await call<Curated>(inSpace(space, "curations"), { method: "POST", body: { act, reason } });
  await settle(space, curated.watermark);
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
  const run = async (next: NewAct, keep: boolean) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const curated = await decide(space, next, reason);
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
