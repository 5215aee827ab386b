import { useState } from "preact/hooks";
import { call, inSpace, readList } from "../../api/client";
import type { Listed, Reading, ReadingCost, ReadingPage, Space } from "../../api/types";
import { duration, minute, whole } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { link } from "../../lib/route";
import { t } from "../../strings";
import { Select } from "../../ui/field";
import { Badge, Card, Empty, Pairs, Shown, Words } from "../../ui/parts";
import { MoreSpaces } from "../more_spaces";

/** Maximum number of spaces in the list of spaces, and maximum number of readings that are read of one space. */
const SPACES = 200;
const READINGS_READ = 2_000;
/** Readings that are shown until the user asks for more, and records that are named per reading. */
const LISTED = 20;
const RECORDS_NAMED = 24;

/** Returns the cost of language models as text. */
function costOf(it: ReadingCost): string {
  const { prompt_tokens = 0, completion_tokens = 0 } = it.usage ?? {};
  const tokens = t.ask.modelTokens(whole(prompt_tokens), whole(completion_tokens));
  return `${t.ask.callCount(it.model_calls ?? 0)}, ${tokens}, ${duration(it.model_ms ?? 0)}`;
}

/** The readings of a space by language models: progress, failures with reasons, unused statements, costs. */
export function Readings() {
  const [chosen, setChosen] = useState("");
  const spaces = useLoaded<Listed<Space>>((signal) => call("/v1/spaces", { query: { limit: SPACES }, signal }), []);
  return (
    <Card title={t.readings.title}>
      <p class="hint">{t.readings.hint}</p>
      <Shown from={spaces}>
        {({ items, next }) => {
          const space = chosen || items[0]?.space;
          if (!space) return <Empty title={t.readings.none} />;
          const names = items.map((it) => it.space);
          if (!names.includes(space)) names.unshift(space);
          const options = names.map((name) => ({ value: name, label: name }));
          return (
            <>
              <div class="row">
                <Select label={t.space} value={space} onValue={setChosen} options={options} />
              </div>
              {next && <MoreSpaces most={SPACES} onOpen={setChosen} />}
              <ReadingsOf key={space} space={space} />
            </>
          );
        }}
      </Shown>
    </Card>
  );
}

interface Content {
  summary: ReadingPage["summary"];
  items: Reading[];
  all: boolean;
}

async function read(space: string, signal: AbortSignal, show: (content: Content) => void): Promise<Content> {
  const path = inSpace(space, "readings");
  const { summary } = await call<ReadingPage>(path, { query: { limit: 1 }, signal });
  let items: Reading[] = [];
  const all = await readList<Reading>(path, {}, READINGS_READ, signal, (some) => {
    items = some.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? -1 : 1));
    show({ summary, items, all: true });
  });
  return { summary, items, all };
}

function ReadingsOf({ space }: { space: string }) {
  const content = useLoaded<Content>((signal, show) => read(space, signal, show), [space]);
  return (
    <Shown from={content}>
      {({ summary, items, all }) => (
        <>
          <Pairs
            rows={[
              { name: t.readings.waiting, value: t.readings.sessions(whole(summary.waiting_sessions)) },
              { name: t.readings.states.done, value: whole(summary.done) },
              { name: t.readings.states.failed, value: whole(summary.failed) },
              { name: t.readings.cost, value: costOf(summary.cost) },
              { name: t.readings.costToday, value: costOf(summary.cost_today) },
            ]}
          />
          {items.length === 0 ? <Empty title={t.readings.none} /> : <ReadingList space={space} items={items} />}
          {!all && <p class="hint">{t.facts.cutOff(whole(READINGS_READ))}</p>}
        </>
      )}
    </Shown>
  );
}

const SHOWN = {
  "": () => true,
  done: (it: Reading) => it.state === "done",
  failed: (it: Reading) => it.state === "failed",
  leftOut: (it: Reading) => (it.outcome.left_out ?? []).length > 0,
};

function ReadingList({ space, items }: { space: string; items: Reading[] }) {
  const [wanted, setWanted] = useState<keyof typeof SHOWN>("");
  const [most, setMost] = useState(LISTED);
  const options = Object.entries(t.readings.filters).map(([value, label]) => ({ value, label }));
  const fitting = items.filter(SHOWN[wanted]);
  return (
    <>
      <div class="row">
        <Select
          label={t.readings.show}
          value={wanted}
          onValue={(value) => setWanted(value as keyof typeof SHOWN)}
          options={options}
        />
      </div>
      {fitting.length === 0 && <p class="hint">{t.readings.noneFits}</p>}
      {fitting.slice(0, most).map((it) => (
        <ReadingEntry key={it.id} space={space} it={it} />
      ))}
      {fitting.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + LISTED)}>
          {t.more}
        </button>
      )}
    </>
  );
}

/** Returns a label for the kind of a reading; the name itself for kinds that this page does not know. */
function kindOf({ kind = "passage" }: Reading): string {
  const kinds: { [kind: string]: string } = t.readings.kinds;
  return Object.hasOwn(kinds, kind) ? (kinds[kind] ?? kind) : kind.replaceAll("_", " ");
}

function ReadingEntry({ space, it }: { space: string; it: Reading }) {
  const leftOut = it.outcome.left_out ?? [];
  const { gists, facts, relations } = it.outcome;
  return (
    <div class="receipt">
      <p>
        <Badge kind={it.state === "done" ? "good" : "bad"}>{t.readings.states[it.state]}</Badge>
        <Badge>{kindOf(it)}</Badge> <span class="hint">{minute(it.at)}</span>
        {it.reason && (
          <>
            {" "}
            <Words text={it.reason} most={600} />
          </>
        )}
      </p>
      <Pairs
        rows={[
          {
            name: t.readings.made,
            value: it.state === "done" && t.readings.madeOf(whole(gists), whole(facts), whole(relations)),
          },
          { name: t.readings.model, value: <Words text={`${it.model}, ${it.prompt}`} most={300} /> },
          { name: t.readings.cost, value: costOf(it.cost) },
          { name: t.explain.records, value: <RecordLinks space={space} ids={it.records} /> },
        ]}
      />
      {leftOut.length > 0 && (
        <details>
          <summary>{t.readings.leftOut(whole(leftOut.length))}</summary>
          <ul class="plain">
            {leftOut.map(({ what, why }, at) => (
              <li key={at}>
                <Words text={what} most={600} />{" "}
                <span class="hint">
                  <Words text={why} most={600} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function RecordLinks({ space, ids }: { space: string; ids: string[] }) {
  return (
    <span class="tags">
      {ids.slice(0, RECORDS_NAMED).map((id) => (
        <a key={id} href={link(space, "timeline", id)}>
          <bdi>{id}</bdi>
        </a>
      ))}
    </span>
  );
}
