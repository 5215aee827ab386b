import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../lib/theme";
import { t } from "../../strings";
import { Layout, type Places } from "./layout";
import type { Edge, Node } from "./network";
import { Stage } from "./stage";

interface Props {
  nodes: Node[];
  edges: Edge[];
  chosen: string;
  /** Nodes that a search found; undefined without a search. */
  found: Set<string> | undefined;
  onPick: (id: string) => void;
}

/** The drawing of the graph. The list below it has the same names for keyboards and screen readers. */
export function Drawing({ nodes, edges, chosen, found, onPick }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage | undefined>(undefined);
  const places = useRef<Places>(new Map());
  const pick = useRef(onPick);
  pick.current = onPick;

  useEffect(() => {
    if (!canvas.current) return;
    const shown = new Stage(canvas.current, (id) => pick.current(id));
    stage.current = shown;
    return () => shown.end();
  }, []);

  useEffect(() => {
    const shown = stage.current;
    if (!shown) return;
    const layout = new Layout({ nodes, edges }, places.current);
    shown.scene = layout.scene;
    shown.repaint();
    layout.start(() => shown.isTouched, shown.repaint);
    return () => {
      layout.stop();
      places.current = layout.places;
    };
  }, [nodes, edges]);

  useEffect(() => {
    if (!stage.current) return;
    stage.current.marked = { chosen, found };
    stage.current.repaint();
  }, [chosen, found, theme.value]);

  return (
    <div class="drawing">
      <canvas ref={canvas} role="img" aria-label={t.graph.picture(nodes.length, edges.length)} />
      <div class="row tools">
        <button type="button" onClick={() => stage.current?.zoomIn()}>
          {t.timeline.zoomIn}
        </button>
        <button type="button" onClick={() => stage.current?.zoomOut()}>
          {t.timeline.zoomOut}
        </button>
        <button type="button" onClick={() => stage.current?.showWhole()}>
          {t.timeline.whole}
        </button>
      </div>
    </div>
  );
}
