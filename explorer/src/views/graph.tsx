import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { inSpace, readWhole } from "../api/client";
import type { Entity, Fact, Unit } from "../api/types";
import { moment, whole } from "../lib/format";
import { useLoaded, useSettled } from "../lib/load";
import { go, link } from "../lib/route";
import { t } from "../strings";
import { Check, Field, Moment } from "../ui/field";
import { Card, Empty, Heading, Shown, Words } from "../ui/parts";
import { Drawing } from "./graph/drawing";
import { expand, joined } from "./graph/expand";
import { KINDS, type Kind, type Network, type Node, type Wanted, network } from "./graph/network";
import { inks } from "./graph/paint";
import { NodePanel } from "./graph/panel";
import type { ViewProps } from ".";

const ENTITIES_READ = 5000;
const FACTS_READ = 10_000;
/** Maximum number of units that are read to find events. */
const UNITS_READ = 5000;
/** Maximum number of names in the list below the drawing. */
const LISTED = 60;

interface Content {
  entities: Entity[];
  facts: Fact[];
  events: Unit[];
  /** Notices about the lists that were not read to their end. */
  cut: string[];
}

const NOTHING: Network = { nodes: [], edges: [] };

async function readContent(space: string, asOf: string, signal: AbortSignal): Promise<Content> {
  const query = { as_of: asOf };
  const [entities, facts, units] = await Promise.all([
    readWhole<Entity>(inSpace(space, "entities"), query, ENTITIES_READ, signal),
    readWhole<Fact>(inSpace(space, "facts"), query, FACTS_READ, signal),
    readWhole<Unit>(inSpace(space, "units"), query, UNITS_READ, signal),
  ]);
  const cut: string[] = [];
  if (!entities.all) cut.push(t.graph.entitiesCut(whole(ENTITIES_READ)));
  if (!facts.all) cut.push(t.graph.factsCut(whole(FACTS_READ)));
  if (!units.all) cut.push(t.graph.eventsCut(whole(UNITS_READ)));
  return { entities: entities.items, facts: facts.items, events: units.items.filter((it) => it.grain !== "turn"), cut };
}

/** Returns the moment of a field in milliseconds, or `otherwise` if it is empty. */
const millisOf = (field: string, otherwise: number): number => (moment(field) ? Date.parse(moment(field)) : otherwise);

export function Graph({ space, id }: ViewProps) {
  const [time, setTime] = useState("");
  const [from, setFrom] = useState("");
  const [until, setUntil] = useState("");
  const [text, setText] = useState("");
  const [kinds, setKinds] = useState<Kind[]>([...KINDS]);
  const [alone, setAlone] = useState(false);
  const asOf = moment(time);
  const content = useLoaded<Content>((signal) => readContent(space, asOf, signal), [space, asOf]);
  const toggle = (kind: Kind, on: boolean) => setKinds(KINDS.filter((it) => (it === kind ? on : kinds.includes(it))));
  const [begin, end] = [millisOf(from, Number.NEGATIVE_INFINITY), millisOf(until, Number.POSITIVE_INFINITY)];
  const wanted = useMemo(() => ({ kinds, alone, from: begin, until: end }), [kinds, alone, begin, end]);
  return (
    <>
      <Heading title={t.graph.title} hint={t.graph.hint} />
      <div class="row">
        <Field label={t.graph.search} type="search" value={text} onValue={setText} />
        <Moment label={t.ask.asOf} value={time} onValue={setTime} hint={t.ask.asOfHint} />
        <Moment label={t.timeline.from} value={from} onValue={setFrom} />
        <Moment label={t.timeline.until} value={until} onValue={setUntil} />
      </div>
      <div class="row">
        {KINDS.map((kind) => (
          <Check
            key={kind}
            label={t.graph.kinds[kind]}
            ink={inks().kinds[kind]}
            checked={kinds.includes(kind)}
            onChecked={(on) => toggle(kind, on)}
          />
        ))}
        <Check label={t.graph.alone} checked={alone} onChecked={setAlone} />
      </div>
      <Shown from={content}>
        {(it) => (
          <>
            {it.cut.map((notice) => (
              <p key={notice} class="notice">
                {notice}
              </p>
            ))}
            <Drawn space={space} content={it} wanted={wanted} text={text} chosen={id} asOf={asOf} />
          </>
        )}
      </Shown>
    </>
  );
}

interface DrawnProps {
  space: string;
  content: Content;
  wanted: Wanted;
  text: string;
  chosen: string;
  asOf: string;
}

/** The expanded nodes and links, until the user chooses another moment. */
function useExpanded(space: string, asOf: string) {
  const [expanded, setExpanded] = useState(NOTHING);
  const running = useRef(new AbortController());
  // Nodes that were read for one moment must not appear at another.
  useEffect(() => {
    const controller = new AbortController();
    running.current = controller;
    setExpanded(NOTHING);
    return () => controller.abort();
  }, [space, asOf]);
  const add = async (node: Node) => {
    const { signal } = running.current;
    const found = await expand(space, node, asOf, signal);
    if (!signal.aborted) setExpanded((before) => joined(before, found));
  };
  return { expanded, add, collapse: () => setExpanded(NOTHING) };
}

function Drawn({ space, content, wanted, text, chosen, asOf }: DrawnProps) {
  const { expanded, add, collapse } = useExpanded(space, asOf);
  const settled = useSettled(wanted, 200);
  const { nodes, edges } = useMemo(() => network({ ...content, expanded }, settled), [content, expanded, settled]);
  const sought = text.trim().toLowerCase();
  const found = useMemo(
    () => (sought ? nodes.filter((it) => it.name.toLowerCase().includes(sought)) : nodes),
    [nodes, sought],
  );
  const foundIds = useMemo(() => (sought ? new Set(found.map((it) => it.id)) : undefined), [found, sought]);
  if (nodes.length === 0) {
    return (
      <Empty title={t.graph.empty}>
        <p>{t.graph.emptyHint}</p>
      </Empty>
    );
  }
  const node = nodes.find((it) => it.id === chosen);
  return (
    <>
      <Card class="flush">
        <Drawing
          nodes={nodes}
          edges={edges}
          chosen={chosen}
          found={foundIds}
          onPick={(id) => go(link(space, "graph", id))}
        />
      </Card>
      <p class="hint" role="status">
        {t.graph.count(whole(nodes.length), whole(edges.length))}
      </p>
      {expanded.nodes.length > 0 && (
        <button type="button" class="quiet" onClick={collapse}>
          {t.graph.collapse}
        </button>
      )}
      {chosen && !node && <p class="notice">{t.graph.absent}</p>}
      {node && (
        <NodePanel key={node.id} space={space} node={node} nodes={nodes} edges={edges} asOf={asOf} onExpand={add} />
      )}
      <NodeList space={space} nodes={found} chosen={chosen} />
    </>
  );
}

function NodeList({ space, nodes, chosen }: { space: string; nodes: Node[]; chosen: string }) {
  const [most, setMost] = useState(LISTED);
  const sorted = useMemo(() => nodes.toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1)), [nodes]);
  return (
    <Card title={t.graph.list}>
      <p class="tags">
        {sorted.slice(0, most).map((it) => (
          <a key={it.id} href={link(space, "graph", it.id)} aria-current={it.id === chosen}>
            <Words text={it.name} most={60} />
          </a>
        ))}
      </p>
      {sorted.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + 4 * LISTED)}>
          {t.more}
        </button>
      )}
    </Card>
  );
}
