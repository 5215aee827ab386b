import type { Entity, Fact, Unit } from "../../api/types";
import { holds } from "../facts/slots";

/**
 * Kinds of nodes. A `value` is the object of a fact that is not an entity; an `event` is an event or a gist; a `turn` is one line
 * of a conversation.
 */
export const KINDS = ["speaker", "person", "place", "other", "value", "event", "turn"] as const;
export type Kind = (typeof KINDS)[number];

export interface Node {
  id: string;
  name: string;
  kind: Kind;
  /** Number of mentions and links of the node. */
  weight: number;
  /** The record that the link of an event or a turn leads to; empty for other kinds. */
  record: string;
  /** Time at which an event or a turn was observed; empty for other kinds. */
  time: string;
}

/** A link between two nodes: a fact, a relation between units, or the participation of an entity in an event. */
export interface Edge {
  id: string;
  from: string;
  to: string;
  kind: "fact" | "relation" | "participant";
  label: string;
  holds: boolean;
  /** The unit that states a fact; empty for other links. */
  source: string;
}

export interface Network {
  nodes: Node[];
  edges: Edge[];
}

export interface Wanted {
  kinds: Kind[];
  /** Whether to include nodes without any link. */
  alone: boolean;
  /** Time span in which events were observed and facts were valid, in milliseconds; both ends are open by default. */
  from: number;
  until: number;
}

/** The data from which the network is built. */
export interface Sources {
  entities: Entity[];
  facts: Fact[];
  events: Unit[];
  /** Units and relations that were added by expanding nodes. */
  expanded: Network;
}

/** Prefix of the ids of nodes that occur in facts but are not entities. */
export const NOT_AN_ENTITY = "value:";
const NAME_MOST = 60;
const lower = (text: string) => text.toLowerCase();

/** Returns the node of a unit. */
export function unitNode(it: Pick<Unit, "id" | "grain" | "tag" | "text" | "observed_at" | "external_ids">): Node {
  const text = it.text.slice(0, NAME_MOST) + (it.text.length > NAME_MOST ? "…" : "");
  const isTurn = it.grain === "turn";
  const name = it.grain === "event" && it.tag ? it.tag : text;
  return { id: it.id, name, kind: isTurn ? "turn" : "event", weight: 0, record: it.external_ids[0] ?? "", time: it.observed_at };
}

/** Collects nodes and edges without duplicates. */
class Builder {
  readonly nodes = new Map<string, Node>();
  readonly edges = new Map<string, Edge>();
  private readonly byName = new Map<string, string>();

  addEntity(it: Entity): void {
    this.nodes.set(it.id, { id: it.id, name: it.name, kind: it.kind, weight: it.mentions, record: "", time: "" });
    for (const name of [it.name, ...(it.aliases ?? []), ...(it.roles ?? [])]) {
      if (!this.byName.has(lower(name))) this.byName.set(lower(name), it.id);
    }
  }

  find(name: string): string | undefined {
    return this.byName.get(lower(name));
  }

  findOrAdd(name: string, kind: Kind): string {
    const known = this.find(name);
    if (known) return known;
    const id = `${NOT_AN_ENTITY}${lower(name)}`;
    this.byName.set(lower(name), id);
    this.nodes.set(id, { id, name, kind, weight: 0, record: "", time: "" });
    return id;
  }

  addUnit(node: Node): void {
    if (!this.nodes.has(node.id)) this.nodes.set(node.id, { ...node });
  }

  addEdge(edge: Edge): void {
    const [from, to] = [this.nodes.get(edge.from), this.nodes.get(edge.to)];
    if (!from || !to || from === to || this.edges.has(edge.id)) return;
    this.edges.set(edge.id, edge);
    from.weight += 1;
    to.weight += 1;
  }
}

/** Returns true if a fact was valid at some time in the span. */
function heldWithin(it: Fact, { from, until }: Wanted): boolean {
  const end = it.valid_until ? Date.parse(it.valid_until) : Number.POSITIVE_INFINITY;
  return Date.parse(it.valid_from.start) < until && end > from;
}

/** Returns entities, values and events as nodes, and facts, relations and participations as links between them. */
export function network({ entities, facts, events, expanded }: Sources, wanted: Wanted): Network {
  const built = new Builder();
  const isWithin = (time: string) => Date.parse(time) >= wanted.from && Date.parse(time) < wanted.until;
  entities.forEach((it) => built.addEntity(it));
  for (const it of facts) {
    if (it.withdrawn || !heldWithin(it, wanted)) continue;
    const from = it.entity && built.nodes.has(it.entity) ? it.entity : built.findOrAdd(it.subject, "other");
    const to = built.findOrAdd(it.object, "value");
    built.addEdge({ id: it.id, from, to, kind: "fact", label: it.predicate, holds: holds(it, ""), source: it.source });
  }
  for (const it of events) {
    if (!isWithin(it.observed_at)) continue;
    built.addUnit(unitNode(it));
    for (const name of it.participants ?? []) {
      const to = built.find(name);
      if (to) built.addEdge({ id: `${it.id}>${to}`, from: it.id, to, kind: "participant", label: "", holds: true, source: "" });
    }
  }
  expanded.nodes.filter((it) => isWithin(it.time)).forEach((it) => built.addUnit(it));
  expanded.edges.forEach((it) => built.addEdge(it));
  return restrict([...built.nodes.values()], [...built.edges.values()], wanted);
}

function restrict(nodes: Node[], edges: Edge[], { kinds, alone }: Wanted): Network {
  const ofKind = new Set(nodes.filter((it) => kinds.includes(it.kind)).map((it) => it.id));
  const kept = edges.filter((it) => ofKind.has(it.from) && ofKind.has(it.to));
  const joined = new Set(kept.flatMap((it) => [it.from, it.to]));
  return { nodes: nodes.filter((it) => ofKind.has(it.id) && (alone || joined.has(it.id))), edges: kept };
}

export interface Neighbour {
  edge: Edge;
  other: string;
  /** Whether the link starts at the node itself. */
  out: boolean;
}

/** Returns the links of a node with the node at their other end. */
export function neighbours(edges: Edge[], id: string): Neighbour[] {
  return edges.flatMap((edge): Neighbour[] => {
    if (edge.from === id) return [{ edge, other: edge.to, out: true }];
    return edge.to === id ? [{ edge, other: edge.from, out: false }] : [];
  });
}
