import { useMemo, useState } from "preact/hooks";
import { inSpace, readList } from "../api/client";
import type { Fact } from "../api/types";
import { minute, whole } from "../lib/format";
import { type Loaded, useLoaded, useSettled } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Check, Field, Select } from "../ui/field";
import { Badge, Card, Empty, Heading, Shown, Words } from "../ui/parts";
import { FactPanel } from "./facts/panel";
import { type Slot, holds, moments, slots } from "./facts/slots";
import type { ViewProps } from ".";

/** Maximum number of facts that are read. */
const FACTS_READ = 10_000;
/** Subjects that are shown until the user asks for more. */
const SUBJECTS = 40;
const ASPECTS = ["preference", "attribute", "relation", "place", "work", "plan", "possession", "count", "habit", "instruction"];

interface Content {
  facts: Fact[];
  all: boolean;
}

function useFacts(space: string, asOf: string): Loaded<Content> {
  return useLoaded<Content>(
    async (signal, show) => {
      let facts: Fact[] = [];
      const all = await readList<Fact>(inSpace(space, "facts"), { as_of: asOf }, FACTS_READ, signal, (items) => {
        facts = items;
        show({ facts, all: true });
      });
      return { facts, all };
    },
    [space, asOf],
  );
}

export function Facts({ space, id }: ViewProps) {
  const known = useFacts(space, "");
  const times = useMemo(() => moments(known.value?.facts ?? []), [known.value]);
  const [place, setPlace] = useState<number>();
  const asOf = place === undefined ? "" : (times[place] ?? "");
  return (
    <>
      <Heading title={t.facts.title} hint={t.facts.hint} />
      <Slider times={times} place={place} onPlace={setPlace} />
      {id && <FactPanel key={id} space={space} id={id} />}
      <AsKnown space={space} asOf={asOf} now={known} chosen={id} />
    </>
  );
}

interface SliderProps {
  times: string[];
  place: number | undefined;
  onPlace: (place: number | undefined) => void;
}

/** A slider over the moments at which facts became known; the last position is now. */
function Slider({ times, place, onPlace }: SliderProps) {
  if (times.length === 0) return null;
  const now = times.length;
  const at = place ?? now;
  const label = at === now ? t.facts.now : minute(times[at]);
  return (
    <Card class="slider">
      <label for="as-of">
        {t.facts.asOf} <output>{label}</output>
      </label>
      <input
        id="as-of"
        type="range"
        min={0}
        max={now}
        value={at}
        aria-valuetext={label}
        onInput={(event) => {
          const chosen = Number(event.currentTarget.value);
          onPlace(chosen === now ? undefined : chosen);
        }}
      />
      <p class="hint">
        {t.facts.asOfHint} {t.utc}
      </p>
    </Card>
  );
}

interface AsKnownProps {
  space: string;
  asOf: string;
  now: Loaded<Content>;
  chosen: string;
}

function AsKnown({ space, asOf, now, chosen }: AsKnownProps) {
  const settled = useSettled(asOf, 150);
  return settled ? (
    <Earlier space={space} asOf={settled} chosen={chosen} />
  ) : (
    <Listing space={space} from={now} asOf="" chosen={chosen} />
  );
}

function Earlier({ space, asOf, chosen }: { space: string; asOf: string; chosen: string }) {
  return <Listing space={space} from={useFacts(space, asOf)} asOf={asOf} chosen={chosen} />;
}

interface ListingProps {
  space: string;
  from: Loaded<Content>;
  asOf: string;
  chosen: string;
}

function Listing({ space, from, asOf, chosen }: ListingProps) {
  const [text, setText] = useState("");
  const [aspect, setAspect] = useState("");
  const [origin, setOrigin] = useState("");
  const [current, setCurrent] = useState(false);
  const choices = ["", ...ASPECTS].map((value) => ({ value, label: value || t.facts.every }));
  const origins = [{ value: "", label: t.facts.everyOrigin }, ...Object.entries(t.facts.origins).map(([value, label]) => ({ value, label }))];
  const fits = (it: Fact) =>
    (!origin || (it.origin ?? "rule") === origin) &&
    (!aspect || it.aspect === aspect) &&
    (!current || holds(it, asOf)) &&
    `${it.subject} ${it.predicate} ${it.object}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <div class="row">
        <Field label={t.filter} type="search" value={text} onValue={setText} />
        <Select label={t.facts.aspect} value={aspect} onValue={setAspect} options={choices} />
        <Select label={t.facts.origin} value={origin} onValue={setOrigin} options={origins} />
        <Check label={t.facts.onlyCurrent} checked={current} onChecked={setCurrent} />
      </div>
      <Shown from={from}>
        {(it) => {
          const facts = it.facts.filter(fits);
          if (facts.length === 0 && from.loading) return null;
          return facts.length === 0 ? (
            <Empty title={t.facts.empty}>
              <p>{t.facts.emptyHint}</p>
            </Empty>
          ) : (
            <>
              <p class="hint" role="status">
                {t.facts.count(whole(facts.length))} {!it.all && t.facts.cutOff(whole(FACTS_READ))}
              </p>
              <Subjects space={space} facts={facts} asOf={asOf} chosen={chosen} />
            </>
          );
        }}
      </Shown>
    </>
  );
}

function Subjects({ space, facts, asOf, chosen }: { space: string; facts: Fact[]; asOf: string; chosen: string }) {
  const [most, setMost] = useState(SUBJECTS);
  const bySubject = Map.groupBy(slots(facts), (slot) => slot.subject);
  const subjects = [...bySubject].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  return (
    <>
      {subjects.slice(0, most).map(([subject, of]) => (
        <Card key={subject} class="subject">
          <h2>
            <Words text={subject} most={120} />
          </h2>
          {of.map((slot) => (
            <SlotRow key={slot.predicate} space={space} slot={slot} asOf={asOf} chosen={chosen} />
          ))}
        </Card>
      ))}
      {subjects.length > most && (
        <button type="button" onClick={() => setMost(most + SUBJECTS)}>
          {t.more}
        </button>
      )}
    </>
  );
}

/** A predicate of a subject with its values; valid values come first. */
function SlotRow({ space, slot, asOf, chosen }: { space: string; slot: Slot; asOf: string; chosen: string }) {
  const valid = slot.facts.filter((it) => holds(it, asOf));
  return (
    <div class="slot">
      <h3>
        <Words text={slot.predicate} />
        {valid.length > 1 && slot.single && <Badge kind="warn">{t.facts.sides(valid.length)}</Badge>}
      </h3>
      <ul class="plain">
        {slot.facts.map((it) => (
          <li key={it.id} class={it.id === chosen ? "strong" : ""}>
            <a href={link(space, "facts", it.id)} class={holds(it, asOf) ? "" : "past"}>
              <Words text={it.object} most={300} />
            </a>{" "}
            <span class="hint">{t.facts.valid(minute(it.valid_from.start), minute(it.valid_until))}</span>{" "}
            {it.origin === "model" && <Badge>{t.facts.byModel}</Badge>}
            {it.withdrawn && <Badge kind="bad">{t.facts.withdrawn}</Badge>}
          </li>
        ))}
      </ul>
    </div>
  );
}
