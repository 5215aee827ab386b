import { type SeenUnit, relatedTo } from "../../api/tools";
import { type Edge, type Network, type Node, unitNode } from "./network";

/** Maximum number of relations that are read of one unit, and maximum number of lines of an event whose own relations are read. */
const RELATIONS = 50;
const LINES = 24;
const PART_OF = "part_of";

function nodeOf(it: SeenUnit): Node {
  const { unit: id, grain, tag = "", text, observed_at, external_ids } = it;
  return unitNode({ id, grain, tag, text, observed_at, external_ids });
}

function edgeOf(unit: string, it: SeenUnit): Edge {
  const [from, to] = it.direction === "to" ? [unit, it.unit] : [it.unit, unit];
  const relation = it.relation ?? "";
  const label = (relation === "other" && it.label ? it.label : relation).replaceAll("_", " ");
  return { id: `${relation}:${from}:${to}`, from, to, kind: "relation", label, holds: true, source: "" };
}

/**
 * Returns the relations of a unit as nodes and links: causes, effects, sequels and the enclosing event; for an event also the
 * relations of its lines.
 */
export async function expand(space: string, node: Node, asOf: string, signal: AbortSignal): Promise<Network> {
  const own = (unit: string) =>
    relatedTo(space, unit, RELATIONS, { asOf, signal }).then((all) => all.filter((it) => it.of === "it"));
  const related = await own(node.id);
  const found: Network = { nodes: [node, ...related.map(nodeOf)], edges: related.map((it) => edgeOf(node.id, it)) };
  const lines = node.kind === "turn" ? [] : related.filter((it) => it.grain === "turn").slice(0, LINES);
  const further = await Promise.all(lines.map(async (line) => ({ line, related: await own(line.unit) })));
  for (const { line, related } of further) {
    const beyond = related.filter((it) => it.relation !== PART_OF);
    found.nodes.push(...beyond.map(nodeOf));
    found.edges.push(...beyond.map((it) => edgeOf(line.unit, it)));
  }
  return found;
}

/** Returns the union of two networks. */
export function joined(a: Network, b: Network): Network {
  return { nodes: [...a.nodes, ...b.nodes], edges: [...a.edges, ...b.edges] };
}
