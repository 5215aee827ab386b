import { useState } from "preact/hooks";
import { Failure, call, inSpace } from "../../api/client";
import type { Entity } from "../../api/types";
import { minute, whole } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { link } from "../../lib/route";
import { t } from "../../strings";
import { Badge, Card, Pairs, Shown, Trouble, Words } from "../../ui/parts";
import { Surroundings } from "../../ui/surroundings";
import { type Edge, NOT_AN_ENTITY, type Neighbour, type Node, neighbours } from "./network";

/** Links that are shown until the user asks for more. */
const LISTED = 60;

interface Props {
  space: string;
  node: Node;
  nodes: Node[];
  edges: Edge[];
  asOf: string;
  /** Adds the related nodes of the node. */
  onExpand: (node: Node) => Promise<void>;
}

/** A node with its data and its links; an event or a line can be expanded. */
export function NodePanel({ space, node, nodes, edges, asOf, onExpand }: Props) {
  const isUnit = node.kind === "event" || node.kind === "turn";
  const links = neighbours(edges, node.id);
  const unit = isUnit ? node.id : links.find(({ edge }) => edge.source)?.edge.source;
  return (
    <Card class="panel">
      <div class="heading">
        <h2>
          <Words text={node.name} most={200} />
        </h2>
        <a href={link(space, "graph")}>{t.close}</a>
      </div>
      {isUnit ? <UnitFacts space={space} node={node} onExpand={onExpand} /> : <EntityFacts space={space} node={node} />}
      <Links space={space} links={links} names={new Map(nodes.map((it) => [it.id, it.name]))} />
      {unit && (
        <details>
          <summary>{t.graph.events}</summary>
          <Surroundings space={space} unit={unit} asOf={asOf} />
        </details>
      )}
    </Card>
  );
}

function EntityFacts({ space, node }: { space: string; node: Node }) {
  const details = useLoaded<Entity | undefined>(
    (signal) =>
      node.id.startsWith(NOT_AN_ENTITY)
        ? Promise.resolve(undefined)
        : call<Entity>(inSpace(space, "entities", node.id), { signal }),
    [space, node.id],
  );
  return (
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
  );
}

function UnitFacts({ space, node, onExpand }: Pick<Props, "space" | "node" | "onExpand">) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const expand = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await onExpand(node);
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  const record = node.record && (
    <a href={link(space, "timeline", node.record)}>
      <bdi>{node.record}</bdi>
    </a>
  );
  return (
    <>
      <Pairs
        rows={[
          { name: t.graph.kind, value: t.graph.kinds[node.kind] },
          { name: t.record.observed, value: minute(node.time) },
          { name: t.record.title, value: record },
        ]}
      />
      <button type="button" disabled={busy} onClick={expand}>
        {busy ? t.act.busy : t.graph.expand}
      </button>
      {failure && <Trouble failure={failure} />}
    </>
  );
}

function Links({ space, links, names }: { space: string; links: Neighbour[]; names: Map<string, string> }) {
  const [most, setMost] = useState(LISTED);
  return (
    <>
      <ul class="plain">
        {links.slice(0, most).map(({ edge, other, out }) => {
          const label = edge.kind === "participant" ? t.graph.participant : edge.label;
          return (
            <li key={edge.id}>
              <Badge kind={edge.holds ? "" : "warn"}>{out ? label : t.graph.from(label)}</Badge>
              <a href={link(space, "graph", other)}>
                <Words text={names.get(other) ?? other} most={200} />
              </a>{" "}
              {edge.kind === "fact" && (
                <a class="hint" href={link(space, "facts", edge.id)}>
                  {t.facts.one}
                </a>
              )}
            </li>
          );
        })}
      </ul>
      {links.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + LISTED)}>
          {t.more}
        </button>
      )}
    </>
  );
}
