import { useMemo, useState } from "preact/hooks";
import { call, inSpace, readList } from "../api/client";
import type { Entity, Fact } from "../api/types";
import { moment, whole } from "../lib/format";
import { useLoaded } from "../lib/load";
import { go, link } from "../lib/route";
import { t } from "../strings";
import { Check, Field, Moment } from "../ui/field";
import { Badge, Card, Empty, Heading, Pairs, Shown, Words } from "../ui/parts";
import { Surroundings } from "../ui/surroundings";
import { Drawing } from "./graph/drawing";
import { KINDS, type Edge, type Node, type Kind, neighbours, network } from "./graph/network";
import type { ViewProps } from ".";

const ENTITIES_READ = 5000;
const FACTS_READ = 10_000;
/** Names in the list below the drawing. */
const LISTED = 60;

interface Content {
  entities: Entity[];
  facts: Fact[];
}

async function all<Item>(path: string, asOf: string, most: number, signal: AbortSignal): Promise<Item[]> {
  let found: Item[] = [];
  await readList<Item>(path, { as_of: asOf }, most, signal, (items) => {
    found = items;
  });
  return found;
}

export function Graph({ space, id }: ViewProps) {
  const [time, setTime] = useState("");
  const [text, setText] = useState("");
  const [kinds, setKinds] = useState<Kind[]>([...KINDS]);
  const [alone, setAlone] = useState(false);
  const asOf = moment(time);
  const content = useLoaded<Content>(
    async (signal) => {
      const [entities, facts] = await Promise.all([
        all<Entity>(inSpace(space, "entities"), asOf, ENTITIES_READ, signal),
        all<Fact>(inSpace(space, "facts"), asOf, FACTS_READ, signal),
      ]);
      return { entities, facts };
    },
    [space, asOf],
  );
  const toggle = (kind: Kind, on: boolean) => setKinds(KINDS.filter((it) => (it === kind ? on : kinds.includes(it))));
  return (
    <>
      <Heading title={t.graph.title} hint={t.graph.hint} />
      <div class="row">
        <Field label={t.graph.search} type="search" value={text} onValue={setText} />
        <Moment label={t.ask.asOf} value={time} onValue={setTime} hint={t.ask.asOfHint} />
        {KINDS.map((kind) => (
          <Check key={kind} label={t.graph.kinds[kind]} checked={kinds.includes(kind)} onChecked={(on) => toggle(kind, on)} />
        ))}
        <Check label={t.graph.alone} checked={alone} onChecked={setAlone} />
      </div>
      <Shown from={content}>
        {(it) => <Drawn space={space} content={it} kinds={kinds} alone={alone} text={text} chosen={id} />}
      </Shown>
    </>
  );
}

interface DrawnProps {
  space: string;
  content: Content;
  kinds: Kind[];
  alone: boolean;
  text: string;
  chosen: string;
}

function Drawn({ space, content, kinds, alone, text, chosen }: DrawnProps) {
  const { nodes, edges } = useMemo(
    () => network(content.entities, content.facts, { kinds, alone }),
    [content, kinds, alone],
  );
  const wanted = text.trim().toLowerCase();
  const found = useMemo(
    () => (wanted ? nodes.filter((it) => it.name.toLowerCase().includes(wanted)) : nodes),
    [nodes, wanted],
  );
  if (nodes.length === 0) {
    return (
      <Empty title={t.graph.empty}>
        <p>{t.graph.emptyHint}</p>
      </Empty>
    );
  }
  const open = (id: string) => go(link(space, "graph", id));
  const node = nodes.find((it) => it.id === chosen);
  return (
    <>
      <Card class="flush">
        <Drawing
          nodes={nodes}
          edges={edges}
          chosen={chosen}
          found={wanted ? new Set(found.map((it) => it.id)) : undefined}
          onPick={open}
        />
      </Card>
      <p class="hint" role="status">
        {t.graph.count(whole(nodes.length), whole(edges.length))}
      </p>
      {node && <NodePanel key={node.id} space={space} node={node} nodes={nodes} edges={edges} />}
      <NodeList space={space} nodes={found} chosen={chosen} />
    </>
  );
}

function NodePanel({ space, node, nodes, edges }: { space: string; node: Node; nodes: Node[]; edges: Edge[] }) {
  const names = new Map(nodes.map((it) => [it.id, it.name]));
  const details = useLoaded<Entity | undefined>(
    (signal) => (node.entity ? call<Entity>(inSpace(space, "entities", node.id), { signal }) : Promise.resolve(undefined)),
    [space, node.id],
  );
  const source = neighbours(edges, node.id)[0]?.edge.source;
  return (
    <Card class="panel">
      <div class="heading">
        <h2>
          <Words text={node.name} most={200} />
        </h2>
        <a href={link(space, "graph")}>{t.close}</a>
      </div>
      <Shown from={details}>
        {(it) =>
          it && (
            <Pairs
              rows={[
                { name: t.graph.kind, value: t.graph.kinds[it.kind] },
                { name: t.graph.mentions, value: whole(it.mentions) },
                { name: t.graph.aliases, value: (it.aliases ?? []).length > 0 && <Words text={(it.aliases ?? []).join(", ")} /> },
                { name: t.graph.roles, value: (it.roles ?? []).length > 0 && <Words text={(it.roles ?? []).join(", ")} /> },
              ]}
            />
          )
        }
      </Shown>
      <ul class="plain">
        {neighbours(edges, node.id).map(({ edge, other, out }) => (
          <li key={edge.id}>
            <Badge kind={edge.holds ? "" : "warn"}>{out ? edge.label : t.graph.from(edge.label)}</Badge>
            <a href={link(space, "graph", other)}>
              <Words text={names.get(other) ?? other} most={200} />
            </a>{" "}
            <a class="hint" href={link(space, "facts", edge.id)}>
              {t.facts.one}
            </a>
          </li>
        ))}
      </ul>
      {source && (
        <details>
          <summary>{t.graph.events}</summary>
          <Surroundings space={space} unit={source} />
        </details>
      )}
    </Card>
  );
}

function NodeList({ space, nodes, chosen }: { space: string; nodes: Node[]; chosen: string }) {
  const [most, setMost] = useState(LISTED);
  const sorted = nodes.toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1));
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
