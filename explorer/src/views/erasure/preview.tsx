import { call, inSpace, readList } from "../../api/client";
import type { Fact, Record, Unit } from "../../api/types";
import { minute, whole } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { t } from "../../strings";
import { Pairs, Shown, Words } from "../../ui/parts";
import type { Target } from "../erasure";

/** Maximum number of objects that are read for the preview. */
const READ = 10_000;
const LINES = 8;

interface Affected {
  records: Record[];
  /** Units that will be erased, since they derive from nothing else. */
  gone: Unit[];
  /** Units that will be derived again without these records. */
  remade: Unit[];
  facts: Fact[];
}

async function all<Item>(path: string, query: { [name: string]: string }, signal: AbortSignal): Promise<Item[]> {
  let found: Item[] = [];
  await readList<Item>(path, query, READ, signal, (items) => {
    found = items;
  });
  return found;
}

async function read(space: string, target: Target, signal: AbortSignal): Promise<Affected> {
  const records =
    target.kind === "record"
      ? [await call<Record>(inSpace(space, "records", target.name), { signal })]
      : await all<Record>(inSpace(space, "records"), { session: target.name }, signal);
  const session = records[0]?.session;
  const units = session ? await all<Unit>(inSpace(space, "units"), { session }, signal) : [];
  const ids = new Set(records.map((it) => it.record));
  const touched = units.filter((unit) => unit.records.some((it) => ids.has(it)));
  const gone = touched.filter((unit) => unit.records.every((it) => ids.has(it)));
  const sources = new Set(gone.map((it) => it.id));
  const facts = await all<Fact>(inSpace(space, "facts"), {}, signal);
  return {
    records,
    gone,
    remade: touched.filter((it) => !sources.has(it.id)),
    facts: facts.filter((it) => sources.has(it.source)),
  };
}

/** Shows the data that an erasure would remove, before it happens. */
export function Preview({ space, target }: { space: string; target: Target }) {
  const affected = useLoaded((signal) => read(space, target, signal), [space, target.kind, target.name]);
  return (
    <Shown from={affected}>
      {(it) =>
        it.records.length === 0 ? (
          <p class="notice">{t.erasure.nothing}</p>
        ) : (
          <>
            <h3>{t.erasure.wouldGo}</h3>
            <Pairs
              rows={[
                { name: t.erasure.records, value: whole(it.records.length) },
                { name: t.erasure.units, value: whole(it.gone.length) },
                { name: t.erasure.facts, value: whole(it.facts.length) },
                { name: t.erasure.remade, value: whole(it.remade.length) },
              ]}
            />
            <ul class="plain">
              {it.records.slice(0, LINES).map((record) => (
                <li key={record.record}>
                  <span class="hint">{minute(record.observed_at)}</span> <Words text={record.text} most={300} />
                </li>
              ))}
              {it.facts.slice(0, LINES).map((fact) => (
                <li key={fact.id}>
                  <Words text={`${fact.subject} ${fact.predicate} ${fact.object}`} most={300} />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Shown>
  );
}
