import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, call, inSpace, readWhole } from "../api/client";
import { access, mayEverywhere, readAgain } from "../api/session";
import type { DeadLetter, Listed, Progress, Rebuild, Space } from "../api/types";
import { fixed, minute, whole } from "../lib/format";
import { type Loaded, useLoaded } from "../lib/load";
import { t } from "../strings";
import { Badge, Card, Empty, Heading, Pairs, Shown, Trouble, Words } from "../ui/parts";
import { Keys } from "./operations/keys";
import { Readings } from "./operations/readings";
import { MoreSpaces } from "./more_spaces";
import { SpaceCells, SpaceHeads } from "./space_columns";

/** Maximum number of spaces whose progress is shown, and maximum number of dead letters that are shown. */
const SPACES = 50;
const LETTERS = 200;
const POLL_MS = 4_000;

interface Row {
  space: Space;
  progress: Progress;
  rebuild: Rebuild | undefined;
}

async function readRow(space: Space, signal: AbortSignal): Promise<Row> {
  const [progress, rebuild] = await Promise.all([
    call<Progress>(inSpace(space.space, "progress"), { signal }),
    call<Rebuild>(inSpace(space.space, "rebuild"), { signal }).catch(() => undefined),
  ]);
  return { space, progress, rebuild };
}

export function Operations() {
  return (
    <>
      <Heading title={t.operations.title} hint={t.operations.hint} />
      <SpaceProgress />
      <Readings />
      <DeadLetters />
      {mayEverywhere("admin") && <Keys />}
      <OwnKey />
    </>
  );
}

/** Loads data, and loads them again every few seconds. */
function usePolled<Value>(read: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [turn, setTurn] = useState(0);
  const loaded = useLoaded<Value>(read, [turn]);
  // A new load ends the one before, so it begins only after that one has ended.
  useEffect(() => {
    if (loaded.loading) return;
    const timer = setTimeout(() => setTurn((it) => it + 1), POLL_MS);
    return () => clearTimeout(timer);
  }, [loaded]);
  return loaded;
}

/** Sizes and progress of spaces, refreshed every few seconds, with the number of records stored since the last refresh. */
function SpaceProgress() {
  const [named, setNamed] = useState("");
  const progress = usePolled(async (signal) => {
    const spaces = await call<Listed<Space>>("/v1/spaces", { query: { limit: SPACES }, signal });
    const rows = await Promise.all(spaces.items.map((it) => readRow(it, signal)));
    return { rows, all: !spaces.next };
  });
  return (
    <Card class="flush padded-title" title={t.spaces.title}>
      <Shown from={progress}>
        {({ rows, all }) => (
          <>
            <ProgressTable rows={rows} />
            {!all && (
              <div class="inset">
                <MoreSpaces most={SPACES} onOpen={setNamed} />
              </div>
            )}
          </>
        )}
      </Shown>
      {named && <NamedSpace key={named} name={named} />}
    </Card>
  );
}

/** Size and progress of a space that is not among the first ones. */
function NamedSpace({ name }: { name: string }) {
  const rows = usePolled(async (signal) => [await readRow(await call<Space>(inSpace(name), { signal }), signal)]);
  return <Shown from={rows}>{(it) => <ProgressTable rows={it} />}</Shown>;
}

function ProgressTable({ rows }: { rows: Row[] }) {
  const rate = useRate(rows.reduce((sum, it) => sum + it.space.records, 0), rows);
  return (
    <>
      <p class="hint inset">{t.operations.rate(fixed(rate))}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.operations.title}>
        <table>
          <thead>
            <tr>
              <SpaceHeads />
              <th scope="col">{t.operations.written}</th>
              <th scope="col" class="number">
                {t.operations.backlog}
              </th>
              <th scope="col">{t.operations.rebuild}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ space, progress, rebuild }) => (
              <tr key={space.space}>
                <SpaceCells space={space} />
                <td>
                  <Badge kind={progress.written ? "good" : "warn"}>
                    {progress.written ? t.operations.upToDate : t.operations.writing}
                  </Badge>
                </td>
                <td class="number">{whole(progress.backlog)}</td>
                <td>{rebuild && t.operations.rebuilt(rebuild.state, whole(rebuild.records), whole(rebuild.of))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Returns the growth of a number per second since it was last loaded. */
function useRate(value: number, read: unknown): number {
  const before = useRef({ value, at: performance.now(), read, rate: 0 });
  if (before.current.read !== read) {
    const at = performance.now();
    const seconds = Math.max(0.001, (at - before.current.at) / 1000);
    before.current = { value, at, read, rate: Math.max(0, value - before.current.value) / seconds };
  }
  return before.current.rate;
}

function DeadLetters() {
  const letters = useLoaded(
    (signal) => readWhole<DeadLetter>("/v1/admin/dead-letters", { limit: LETTERS }, LETTERS, signal),
    [],
  );
  return (
    <Card title={t.operations.letters}>
      <p class="hint">{t.operations.lettersHint}</p>
      <Shown from={letters}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.operations.noLetters} />
          ) : (
            <>
              {!all && <p class="notice">{t.operations.lettersCut(whole(LETTERS))}</p>}
              {items.map((letter) => (
                <Letter key={letter.id} it={letter} />
              ))}
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function Letter({ it }: { it: DeadLetter }) {
  const [failure, setFailure] = useState<Failure>();
  const path = `/v1/admin/dead-letters/${encodeURIComponent(it.id)}`;
  const act = async (method: string, to: string) => {
    setFailure(undefined);
    try {
      await call(to, { method });
      readAgain();
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <div class="receipt">
      <p>
        <Badge kind="bad">{it.group}</Badge> <Words text={it.reason} most={600} />
      </p>
      <Pairs
        rows={[
          { name: t.space, value: <Words text={it.space} /> },
          { name: t.operations.subject, value: it.subject },
          { name: t.operations.attempts, value: whole(it.attempts) },
          { name: t.operations.givenUp, value: minute(it.at) },
        ]}
      />
      <details>
        <summary>{t.operations.payload}</summary>
        <pre>{it.payload.slice(0, 20_000)}</pre>
      </details>
      <p class="actions">
        <button type="button" onClick={() => act("POST", `${path}/replay`)}>
          {t.operations.replay}
        </button>
        <button type="button" class="danger" onClick={() => act("DELETE", path)}>
          {t.operations.discard}
        </button>
      </p>
      {failure && <Trouble failure={failure} />}
    </div>
  );
}

function OwnKey() {
  const own = access.value;
  if (!own) return null;
  return (
    <Card title={t.operations.key}>
      <Pairs
        rows={[
          { name: t.operations.keyName, value: own.name || t.operations.noKeys },
          { name: t.spaces.title, value: <Words text={own.spaces.join(", ")} /> },
          { name: t.operations.rights, value: own.rights.map((it) => <Badge key={it}>{it}</Badge>) },
        ]}
      />
      <p class="hint">{t.operations.keyHint}</p>
    </Card>
  );
}
