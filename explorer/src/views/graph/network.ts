import type { Entity, Fact } from "../../api/types";
import { holds } from "../facts/slots";

/** Kinds of nodes; a `value` is what a fact says of somebody without being an entity itself. */
export const KINDS = ["speaker", "person", "place", "other", "value"] as const;
export type Kind = (typeof KINDS)[number];

export interface Node {
  id: string;
  name: string;
  kind: Kind;
  /** How much is known of it: mentions and facts. */
  weight: number;
  entity: boolean;
}

/** A fact between two nodes. */
export interface Edge {
  id: string;
  from: string;
  to: string;
  label: string;
  holds: boolean;
  source: string;
}

interface Wanted {
  kinds: Kind[];
  /** Whether nodes without any fact are wanted. */
  alone: boolean;
}

const lower = (text: string) => text.toLowerCase();

/** Returns entities and values as nodes, and facts as edges between them. */
export function network(entities: Entity[], facts: Fact[], wanted: Wanted): { nodes: Node[]; edges: Edge[] } {
  const nodes = new Map<string, Node>();
  const byName = new Map<string, string>();
  for (const it of entities) {
    nodes.set(it.id, { id: it.id, name: it.name, kind: it.kind, weight: it.mentions, entity: true });
    for (const name of [it.name, ...(it.aliases ?? []), ...(it.roles ?? [])]) {
      if (!byName.has(lower(name))) byName.set(lower(name), it.id);
    }
  }
  const place = (name: string, kind: Kind): string => {
    const known = byName.get(lower(name));
    if (known) return known;
    const id = `value:${lower(name)}`;
    byName.set(lower(name), id);
    nodes.set(id, { id, name, kind, weight: 0, entity: false });
    return id;
  };
  const edges: Edge[] = [];
  for (const it of facts) {
    if (it.withdrawn) continue;
    const from = it.entity && nodes.has(it.entity) ? it.entity : place(it.subject, "other");
    const to = place(it.object, "value");
    if (from === to) continue;
    edges.push({ id: it.id, from, to, label: it.predicate, holds: holds(it, ""), source: it.source });
    for (const end of [from, to]) {
      const node = nodes.get(end);
      if (node) node.weight += 1;
    }
  }
  return restrict([...nodes.values()], edges, wanted);
}

function restrict(nodes: Node[], edges: Edge[], { kinds, alone }: Wanted): { nodes: Node[]; edges: Edge[] } {
  const ofKind = new Set(nodes.filter((it) => kinds.includes(it.kind)).map((it) => it.id));
  const kept = edges.filter((it) => ofKind.has(it.from) && ofKind.has(it.to));
  const joined = new Set(kept.flatMap((it) => [it.from, it.to]));
  return { nodes: nodes.filter((it) => ofKind.has(it.id) && (alone || joined.has(it.id))), edges: kept };
}

export interface Neighbour {
  edge: Edge;
  other: string;
  /** Whether the fact is about the node itself. */
  out: boolean;
}

/** Returns the edges of a node with the node at their other end. */
export function neighbours(edges: Edge[], id: string): Neighbour[] {
  return edges.flatMap((edge): Neighbour[] => {
    if (edge.from === id) return [{ edge, other: edge.to, out: true }];
    return edge.to === id ? [{ edge, other: edge.from, out: false }] : [];
  });
}
