import { Failure, type Query, call, inSpace, readWhole } from "../../api/client";
import type { Fact, Record, Unit } from "../../api/types";
import { minute, whole } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { t } from "../../strings";
import { Pairs, Shown, Words } from "../../ui/parts";
import type { Target } from "../erasure";

/** Maximum number of objects that are read for the preview. */
const READ = 10_000;
const LINES = 8;
const NOT_FOUND = 404;

interface Affected {
  records: Record[];
  /** Units that will be erased, since they derive from nothing else. */
  gone: Unit[];
  /** Units that will be derived again without these records. */
  remade: Unit[];
  facts: Fact[];
  /** Whether the lists were read to their ends. */
  all: boolean;
}

/** Returns all versions of a record, since an erasure by the caller's id erases all; an id of Mnemic names one of them. */
async function versionsOf(space: string, name: string, signal: AbortSignal): Promise<Record[]> {
  const path = inSpace(space, "records", name);
  try {
    return (await readWhole<Record>(`${path}/versions`, {}, READ, signal)).items;
  } catch (error) {
    if (!(error instanceof Failure && error.status === NOT_FOUND)) throw error;
    return [await call<Record>(path, { signal })];
  }
}

async function read(space: string, target: Target, signal: AbortSignal): Promise<Affected> {
  let all = true;
  const list = async <Item,>(name: string, query: Query): Promise<Item[]> => {
    const found = await readWhole<Item>(inSpace(space, name), query, READ, signal);
    all &&= found.all;
    return found.items;
  };
  const records =
    target.kind === "record"
      ? await versionsOf(space, target.name, signal)
      : await list<Record>("records", { session: target.name });
  // A version may be in another session than the one before it.
  const units: Unit[] = [];
  for (const session of new Set(records.map((it) => it.session))) units.push(...(await list<Unit>("units", { session })));
  const ids = new Set(records.map((it) => it.record));
  const touched = units.filter((unit) => unit.records.some((it) => ids.has(it)));
  const gone = touched.filter((unit) => unit.records.every((it) => ids.has(it)));
  const sources = new Set(gone.map((it) => it.id));
  const facts = await list<Fact>("facts", {});
  return {
    records,
    gone,
    remade: touched.filter((it) => !sources.has(it.id)),
    facts: facts.filter((it) => sources.has(it.source)),
    all,
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
            {!it.all && <p class="notice">{t.erasure.previewCut(whole(READ))}</p>}
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
