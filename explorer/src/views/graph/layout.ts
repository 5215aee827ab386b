import { MultiDirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import type { Edge, Network, Node } from "./network";

/** A node in the drawing. */
export interface Spot {
  id: string;
  label: string;
  kind: Node["kind"];
  weight: number;
  x: number;
  y: number;
}

/** A link in the drawing. */
export interface Line {
  from: Spot;
  to: Spot;
  kind: Edge["kind"];
  holds: boolean;
}

/** The content of the drawing: the heaviest spots first. */
export interface Scene {
  spots: Spot[];
  lines: Line[];
}

/** Positions by the ids of nodes. */
export type Places = Map<string, { x: number; y: number }>;

/** Time budget of the layout in one frame, and in total, in milliseconds. */
const FRAME_MS = 8;
const LARGE_FRAME_MS = 150;
const LAYOUT_MS = 4_000;
/** Number of nodes from which a graph counts as large. */
const LARGE = 1_000;
const LABEL_MOST = 40;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

const around = (at: number, step: number) => ({
  x: step * Math.sqrt(at + 1) * Math.cos(at * GOLDEN_ANGLE),
  y: step * Math.sqrt(at + 1) * Math.sin(at * GOLDEN_ANGLE),
});

/** Moves the spots of a scene so that linked ones are close together. */
export class Layout {
  readonly scene: Scene;
  private readonly graph = new MultiDirectedGraph();
  private spent = 0;
  private iterations = 1;
  private frame = 0;

  /**
   * Nodes that were drawn before start at their old position, and new ones next to such a neighbour. All others start on a spiral
   * with the heaviest in the middle. The start is deterministic.
   */
  constructor({ nodes, edges }: Network, before: Places) {
    const spots = nodes.map((it): Spot => {
      const label = it.name.length > LABEL_MOST ? `${it.name.slice(0, LABEL_MOST)}…` : it.name;
      return { id: it.id, label, kind: it.kind, weight: it.weight, x: 0, y: 0 };
    });
    spots.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
    const byId = new Map(spots.map((it) => [it.id, it]));
    const lines = edges.flatMap((it): Line[] => {
      const [from, to] = [byId.get(it.from), byId.get(it.to)];
      return from && to ? [{ from, to, kind: it.kind, holds: it.holds }] : [];
    });
    this.scene = { spots, lines };
    const anchors = new Map<string, string>();
    for (const { from, to } of lines) {
      if (before.has(from.id)) anchors.set(to.id, from.id);
      if (before.has(to.id)) anchors.set(from.id, to.id);
    }
    spots.forEach((it, at) => {
      const anchor = before.get(anchors.get(it.id) ?? "");
      const next = around(at, anchor ? 1 : 10);
      const place = anchor ? { x: anchor.x + next.x / Math.sqrt(at + 1), y: anchor.y + next.y / Math.sqrt(at + 1) } : next;
      Object.assign(it, before.get(it.id) ?? place);
      this.graph.addNode(it.id, { x: it.x, y: it.y });
    });
    for (const { from, to } of lines) this.graph.addEdge(from.id, to.id);
  }

  get places(): Places {
    return new Map(this.scene.spots.map(({ id, x, y }) => [id, { x, y }]));
  }

  /**
   * Moves the spots in each frame until the time budget is spent, and calls `moved` after each move; pauses while `isPaused` is
   * true. A large graph is moved less often.
   */
  start(isPaused: () => boolean, moved: () => void): void {
    const { order } = this.graph;
    const settings = { ...forceAtlas2.inferSettings(this.graph), barnesHutOptimize: order > 300, scalingRatio: 10 };
    const wanted = order > LARGE ? LARGE_FRAME_MS : FRAME_MS;
    const most = Math.min(LAYOUT_MS, LAYOUT_MS / 4 + order / 2);
    const step = () => {
      this.frame = requestAnimationFrame(step);
      if (isPaused()) return;
      const start = performance.now();
      forceAtlas2.assign(this.graph, { iterations: this.iterations, settings });
      const took = Math.max(0.1, performance.now() - start);
      this.iterations = Math.max(1, Math.floor((this.iterations * wanted) / took));
      this.spent += took;
      for (const it of this.scene.spots) {
        const { x, y } = this.graph.getNodeAttributes(it.id) as { x: number; y: number };
        Object.assign(it, { x, y });
      }
      if (this.spent >= most) this.stop();
      moved();
    };
    this.frame = requestAnimationFrame(step);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }
}
