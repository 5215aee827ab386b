import { MultiDirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import { useEffect, useRef, useState } from "preact/hooks";
import Sigma from "sigma";
import { theme } from "../../lib/theme";
import { t } from "../../strings";
import type { Edge, Node } from "./network";

interface Props {
  nodes: Node[];
  edges: Edge[];
  chosen: string;
  /** Nodes that a search found; none without a search. */
  found: Set<string> | undefined;
  onPick: (id: string) => void;
}

/** Time the layout may take in one frame, and altogether, in milliseconds. */
const FRAME_MS = 8;
const LARGE_FRAME_MS = 150;
const LAYOUT_MS = 4_000;
/** Nodes from which a graph is large. */
const LARGE = 1_000;
const LABEL_MOST = 40;
/** Nodes up to which all labels are shown. */
const ALL_LABELS = 60;
/** Edges and labels up to which they stay while the drawing is moved. */
const EDGES_MOVED = 5_000;
const LABELS_MOVED = 1_000;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

interface Inks {
  kinds: { [kind in Node["kind"]]: string };
  edge: string;
  faded: string;
  label: string;
  chosen: string;
}

function inks(): Inks {
  const dark = theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  const kinds = dark
    ? { speaker: "#5eead4", person: "#7dd3fc", place: "#86efac", other: "#c4b5fd", value: "#8b9794" }
    : { speaker: "#0f766e", person: "#0369a1", place: "#15803d", other: "#6d28d9", value: "#8b9794" };
  return dark
    ? { kinds, edge: "#3b4a48", faded: "#243030", label: "#e6edec", chosen: "#fda29b" }
    : { kinds, edge: "#c3cccb", faded: "#e8ecec", label: "#16201f", chosen: "#b42318" };
}

/** Returns the graph with its nodes on a spiral, the heaviest in the middle, from where the layout starts without chance. */
function build(nodes: Node[], edges: Edge[]): MultiDirectedGraph {
  const graph = new MultiDirectedGraph();
  nodes.toSorted((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1)).forEach((it, at) => {
    const [angle, distance] = [at * GOLDEN_ANGLE, 10 * Math.sqrt(at + 1)];
    const label = it.name.length > LABEL_MOST ? `${it.name.slice(0, LABEL_MOST)}…` : it.name;
    const size = 4 + 1.5 * Math.log2(1 + it.weight);
    graph.addNode(it.id, { x: distance * Math.cos(angle), y: distance * Math.sin(angle), size, label, kind: it.kind });
  });
  for (const it of edges) graph.addEdgeWithKey(it.id, it.from, it.to, { size: it.holds ? 1.5 : 0.75 });
  return graph;
}

/** Moves the nodes in each frame until the time is spent; returns what stops it. A large graph is drawn less often meanwhile. */
function layOut(graph: MultiDirectedGraph): () => void {
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 300, scalingRatio: 10 };
  const wanted = graph.order > LARGE ? LARGE_FRAME_MS : FRAME_MS;
  const most = Math.min(LAYOUT_MS, LAYOUT_MS / 4 + graph.order / 2);
  let [iterations, spent, frame] = [1, 0, 0];
  const step = () => {
    const start = performance.now();
    forceAtlas2.assign(graph, { iterations, settings });
    const took = Math.max(0.1, performance.now() - start);
    iterations = Math.max(1, Math.floor((iterations * wanted) / took));
    spent += took;
    frame = spent < most ? requestAnimationFrame(step) : 0;
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}

function colour(graph: MultiDirectedGraph, chosen: string, found: Set<string> | undefined): void {
  const ink = inks();
  const near = new Set(chosen && graph.hasNode(chosen) ? graph.neighbors(chosen) : []);
  const lit = (id: string) => (found ? found.has(id) : near.size === 0 || id === chosen || near.has(id));
  graph.updateEachNodeAttributes((id, node) => {
    const own = ink.kinds[node.kind as Node["kind"]];
    return { ...node, color: id === chosen ? ink.chosen : lit(id) ? own : ink.faded };
  });
  graph.updateEachEdgeAttributes((_, edge, from, to) => ({ ...edge, color: lit(from) && lit(to) ? ink.edge : ink.faded }));
}

/** The drawing of the graph, by the graphics processor. The list below it has the same names for keyboards and screen readers. */
export function Drawing({ nodes, edges, chosen, found, onPick }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ graph: MultiDirectedGraph; sigma: Sigma } | null>(null);
  const [unable, setUnable] = useState(false);
  const pick = useRef(onPick);
  pick.current = onPick;

  useEffect(() => {
    if (!place.current) return;
    const graph = build(nodes, edges);
    colour(graph, chosen, found);
    let sigma: Sigma;
    try {
      sigma = new Sigma(graph, place.current, {
        styles: {
          nodes: [
            {
              x: { attribute: "x" },
              y: { attribute: "y" },
              size: { attribute: "size" },
              color: { attribute: "color" },
              label: { attribute: "label" },
              labelColor: inks().label,
              labelFont: "system-ui, sans-serif",
              labelSize: 12,
              labelVisibility: nodes.length > ALL_LABELS ? "auto" : "visible",
            },
          ],
          edges: [{ size: { attribute: "size" }, color: { attribute: "color" } }],
        },
        settings: {
          // The place has no width while it is laid out again.
          allowInvalidContainer: true,
          enableCameraRotation: false,
          hideEdgesOnMove: edges.length > EDGES_MOVED,
          hideLabelsOnMove: nodes.length > LABELS_MOVED,
          itemSizesReference: "screen",
          stagePadding: 60,
        },
      });
    } catch {
      setUnable(true);
      return;
    }
    sigma.on("clickNode", ({ node }: { node: string }) => pick.current(node));
    drawn.current = { graph, sigma };
    const stop = layOut(graph);
    return () => {
      stop();
      sigma.kill();
      drawn.current = null;
    };
  }, [nodes, edges, theme.value]);

  useEffect(() => {
    if (drawn.current) colour(drawn.current.graph, chosen, found);
  }, [chosen, found]);

  if (unable) return <p class="notice">{t.graph.unable}</p>;
  return <div ref={place} class="drawing" role="img" aria-label={t.graph.picture(nodes.length, edges.length)} />;
}
