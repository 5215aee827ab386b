import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { inSpace, readList, readWhole } from "../api/client";
import type { Record, Unit } from "../api/types";
import { minute, moment, whole } from "../lib/format";
import { type Loaded, useLoaded, useSettled } from "../lib/load";
import { go, link, route } from "../lib/route";
import { commonTags } from "../lib/tags";
import { t } from "../strings";
import { Check, Field, Moment, Select } from "../ui/field";
import { Badge, Card, Empty, Heading, Shown, Words } from "../ui/parts";
import { Tags } from "../ui/tags";
import { TimeCanvas, wholeSpan } from "./timeline/canvas";
import { type Mark, type Span, firstAt } from "./timeline/draw";
import { RecordPanel } from "./timeline/record";
import type { ViewProps } from ".";

/** Maximum number of records and units that are read; filters give access to the others. */
const RECORDS_READ = 20_000;
const UNITS_READ = 10_000;
/** Maximum number of lanes; the actors with the fewest items share the last lane. */
const LANES = 8;
const LISTED = 50;
/** Maximum number of tags that the filter offers, and maximum number of tags that are shown per record in the list. */
const TAGS_OFFERED = 200;
const TAGS_LISTED = 8;
/** The latest time of a `Date`, in milliseconds from 1970; the earliest time is equally far before 1970. */
const TIME_MOST = 8.64e15;

/** An entry of the timeline. */
interface Item {
  /** Mnemic's id of the record, or of the first record of an event. The caller's id would open the newest version. */
  id: string;
  /** The caller's id of the record. For a later version, also the id of the first version. */
  names: string[];
  at: number;
  time: string;
  actor: string;
  session: string;
  modality: string;
  text: string;
  tags: string[];
  event: boolean;
}

interface Content {
  items: Item[];
  /** Whether all records, and all units with the events, were read. */
  all: boolean;
  allUnits: boolean;
}

interface Filters {
  session: string;
  actor: string;
  /** The tag, spelled exactly as in the records. */
  tag: string;
  from: string;
  until: string;
}

function ofRecord(it: Record): Item {
  const text = it.text || it.image_caption || it.tool?.name || "";
  const at = Date.parse(it.observed_at);
  const common = { time: it.observed_at, actor: it.actor, session: it.session, modality: it.modality };
  const names = it.version ? [it.id, it.version.of] : [it.id];
  return { id: it.record, names, at, text, tags: it.tags ?? [], event: false, ...common };
}

function ofEvent(it: Unit): Item {
  const at = Date.parse(it.observed_at);
  const text = it.text || it.summary;
  const common = { time: it.observed_at, session: it.session, modality: it.modality, event: true };
  return { id: it.records[0] ?? it.id, names: [], at, actor: t.timeline.events, text, tags: [], ...common };
}

/** Sorts by time. Records of the same time stay in the order in which they were stored, and before events. */
function sorted(items: Item[]): Item[] {
  return items.sort((a, b) => a.at - b.at);
}

/** Returns the events that derive from at least one of the records and were observed between `from` and `until`. */
function matchingEvents(units: Unit[], records: Record[], { from, until }: { from: string; until: string }): Item[] {
  const read = new Set(records.map((it) => it.record));
  const begin = from ? Date.parse(from) : Number.NEGATIVE_INFINITY;
  const end = until ? Date.parse(until) : Number.POSITIVE_INFINITY;
  const events = units.filter((it) => it.grain === "event" && it.records.some((record) => read.has(record)));
  return events.map(ofEvent).filter((it) => it.at >= begin && it.at < end);
}

/**
 * Loads records and, if requested, the events derived from them, which have no tags; shows the first ones as soon as they arrive.
 */
function useContent(space: string, filters: Filters, events: boolean): Loaded<Content> {
  const { session, actor, tag } = filters;
  const query = { session, actor, tag, from: moment(filters.from), until: moment(filters.until) };
  return useLoaded<Content>(
    async (signal, show) => {
      let records: Record[] = [];
      const all = await readList<Record>(inSpace(space, "records"), query, RECORDS_READ, signal, (some) => {
        records = some;
        show({ items: sorted(records.map(ofRecord)), all: true, allUnits: true });
      });
      const items = records.map(ofRecord);
      if (!events || tag) return { items: sorted(items), all, allUnits: true };
      // The API filters units by actor too, but an event of several actors has none.
      const units = await readWhole<Unit>(inSpace(space, "units"), { session }, UNITS_READ, signal);
      return { items: sorted([...items, ...matchingEvents(units.items, records, query)]), all, allUnits: units.all };
    },
    [space, JSON.stringify(query), events],
  );
}

/** Returns the filters in an address; the others are empty. */
function filtersIn(params: URLSearchParams): Filters {
  const of = (name: string) => params.get(name) ?? "";
  return { session: of("session"), actor: of("actor"), tag: of("tag"), from: "", until: "" };
}

/**
 * Returns the tags that the filter offers. Records that were filtered by a tag have only some of the tags, so the earlier offers
 * stay.
 */
function useOffered(content: Content | undefined, tag: string): string[] {
  const before = useRef<string[]>([]);
  const read = useMemo(() => commonTags(content?.items ?? [], TAGS_OFFERED), [content]);
  if (!tag || before.current.length === 0) before.current = read;
  return before.current;
}

export function Timeline({ space, id }: ViewProps) {
  const given = route.value.params;
  const address = given.toString();
  const [filters, setFilters] = useState<Filters>(filtersIn(given));
  // A link to a record contains no filters and leaves them unchanged.
  useEffect(() => {
    if (address) setFilters(filtersIn(new URLSearchParams(address)));
  }, [address]);
  const [modality, setModality] = useState("");
  const [events, setEvents] = useState(false);
  const content = useContent(space, useSettled(filters, 300), events);
  const offered = useOffered(content.value, filters.tag);
  const set = (part: Partial<Filters>) => setFilters({ ...filters, ...part });
  const kinds = ["", "text", "visual", "action"].map((value) => ({ value, label: value ? t.modalities[value as "text"] : t.timeline.every }));
  return (
    <>
      <Heading title={t.timeline.title} hint={t.timeline.hint} />
      <div class="row">
        <Field label={t.timeline.session} value={filters.session} onValue={(session) => set({ session })} />
        <Field label={t.timeline.actor} value={filters.actor} onValue={(actor) => set({ actor })} />
        <Field
          label={t.tags.one}
          value={filters.tag}
          onValue={(tag) => set({ tag })}
          suggestions={offered}
          hint={events ? t.timeline.eventsUntagged : undefined}
        />
        <Select label={t.timeline.kind} value={modality} onValue={setModality} options={kinds} />
        <Moment label={t.timeline.from} value={filters.from} onValue={(from) => set({ from })} />
        <Moment label={t.timeline.until} value={filters.until} onValue={(until) => set({ until })} />
        <Check label={t.timeline.showEvents} checked={events} onChecked={setEvents} />
      </div>
      {id && <RecordPanel key={id} space={space} id={id} />}
      <Shown from={content}>
        {(it) => <Laid space={space} content={it} modality={modality} chosen={id} loading={content.loading} />}
      </Shown>
    </>
  );
}

/** Returns a time in the format of the API; a time outside the range of `Date` is limited to that range. */
const iso = (time: number): string => new Date(Math.max(-TIME_MOST, Math.min(TIME_MOST, time))).toISOString();

interface LaidProps {
  space: string;
  content: Content;
  modality: string;
  chosen: string;
  loading: boolean;
}

function Laid({ space, content, modality, chosen, loading }: LaidProps) {
  const items = useMemo(
    () => (modality ? content.items.filter((it) => it.modality === modality) : content.items),
    [content, modality],
  );
  const { marks, lanes } = useMemo(() => layOut(items), [items]);
  const [span, setSpan] = useState<Span>();
  const shown = span ?? wholeSpan(marks);
  if (items.length === 0) {
    return loading ? null : (
      <Empty title={t.timeline.empty}>
        <p>{t.timeline.emptyHint}</p>
      </Empty>
    );
  }
  // Other views link to a record by the caller's id, which opens the newest version.
  const opened = items.find((it) => it.id === chosen) ?? items.findLast((it) => it.names.includes(chosen));
  const visible = items.slice(firstAt(marks, shown.from), firstAt(marks, shown.until + 1));
  return (
    <>
      <Card>
        <TimeCanvas
          marks={marks}
          lanes={lanes}
          selected={opened?.id ?? ""}
          onSpan={setSpan}
          onPick={(picked) => go(link(space, "timeline", picked))}
        />
        <p class="hint" role="status">
          {loading ? t.timeline.reading(whole(items.length)) : t.timeline.count(whole(items.length), whole(visible.length))}
          {` ${t.timeline.span(minute(iso(shown.from)), minute(iso(shown.until)))}`}
          {!content.all && ` ${t.timeline.cutOff(whole(RECORDS_READ))}`}
          {!content.allUnits && ` ${t.timeline.eventsCut(whole(UNITS_READ))}`}
        </p>
      </Card>
      <Items space={space} items={visible} chosen={opened?.id ?? ""} />
    </>
  );
}

/** Assigns a lane to each of the most active actors, and one common lane to all others. */
function layOut(items: Item[]): { marks: Mark[]; lanes: string[] } {
  const counts = new Map<string, number>();
  for (const it of items) counts.set(it.actor, (counts.get(it.actor) ?? 0) + 1);
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
  const lanes = byCount.length > LANES ? byCount.slice(0, LANES - 1) : byCount;
  const laneOf = new Map(lanes.map((name, lane) => [name, lane]));
  const names = lanes.map((name) => name || t.timeline.nobody);
  if (lanes.length < byCount.length) names.push(t.timeline.others(byCount.length - lanes.length));
  const marks = items.map((it) => ({ id: it.id, at: it.at, lane: laneOf.get(it.actor) ?? lanes.length }));
  return { marks, lanes: names };
}

function Items({ space, items, chosen }: { space: string; items: Item[]; chosen: string }) {
  const [most, setMost] = useState(LISTED);
  return (
    <Card title={t.timeline.records} class="flush padded-title">
      <ul class="plain rows">
        {items.slice(0, most).map((it, at) => (
          <li key={`${it.id}/${at}`} class={it.id === chosen ? "strong" : ""}>
            <a href={link(space, "timeline", it.id)}>{minute(it.time)}</a>
            {it.event && <Badge>{t.timeline.event}</Badge>}
            {!it.event && it.actor && (
              <strong>
                <Words text={it.actor} most={60} />
              </strong>
            )}
            <Words text={it.text} most={300} />
            <Tags tags={it.tags} most={TAGS_LISTED} />
          </li>
        ))}
      </ul>
      {items.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + 4 * LISTED)}>
          {t.more}
        </button>
      )}
    </Card>
  );
}
