import { scaleUtc } from "d3-scale";
import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../../strings";
import { type Mark, type Span, drawTimeline, laneAt, nearestMark } from "./draw";

interface Props {
  marks: Mark[];
  lanes: string[];
  selected: string;
  /** Called with the visible time span when it stops changing, and with undefined if the whole time span is visible. */
  onSpan: (span: Span | undefined) => void;
  onPick: (id: string) => void;
}

const LANE_HEIGHT = 34;
const AXIS_HEIGHT = 28;
/** The shortest time span that fills the whole width, in milliseconds. */
const SHORTEST = 60_000;
const STEP = 1.8;
/** Milliseconds without a movement after which the list is updated. */
const REST_MS = 120;

/** Returns the time span from the first mark to the last, with a small margin. */
export function wholeSpan(marks: Mark[]): Span {
  const first = marks[0]?.at ?? Date.UTC(2000, 0);
  const last = marks.at(-1)?.at ?? first;
  const room = Math.max((last - first) * 0.02, SHORTEST);
  return { from: first - room, until: last + room };
}

/**
 * Marks in time, one lane per speaker. They are drawn on a canvas, so that tens of thousands of marks move smoothly; the list
 * below has the same records for keyboards and screen readers.
 */
export function TimeCanvas({ marks, lanes, selected, onSpan, onPick }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const state = useRef({ marks, lanes, selected, onSpan, onPick, transform: zoomIdentity as ZoomTransform });
  Object.assign(state.current, { marks, lanes, selected, onSpan, onPick });
  const height = lanes.length * LANE_HEIGHT + AXIS_HEIGHT;
  const { from, until } = wholeSpan(marks);
  const zoomed = useRef({ from, until });
  const behaviour = useRef(zoom<HTMLCanvasElement, unknown>());

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    let frame = 0;
    let rest = 0;
    const time = () => scaleUtc([new Date(from), new Date(until)], [0, element.clientWidth]);
    const shown = () => state.current.transform.rescaleX(time());
    const paint = () => {
      frame = 0;
      const now = state.current;
      drawTimeline(element, { ...now, time: shown(), laneHeight: LANE_HEIGHT, height });
    };
    const repaint = () => {
      if (!frame) frame = requestAnimationFrame(paint);
    };
    const report = () => {
      const [start, end] = shown().domain() as [Date, Date];
      const whole = state.current.transform === zoomIdentity;
      state.current.onSpan(whole ? undefined : { from: start.getTime(), until: end.getTime() });
    };
    const moved = ({ transform }: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      state.current.transform = transform;
      repaint();
      clearTimeout(rest);
      rest = window.setTimeout(report, REST_MS);
    };
    const most = Math.max(1, (until - from) / SHORTEST);
    behaviour.current.scaleExtent([1, most]).on("zoom", moved);
    const fit = () => {
      const size: [number, number] = [element.clientWidth, height];
      behaviour.current.extent([[0, 0], size]).translateExtent([[0, 0], size]);
      repaint();
    };
    const pick = (event: MouseEvent) => {
      const mark = nearestMark(state.current.marks, shown(), event.offsetX, laneAt(event.offsetY, LANE_HEIGHT));
      if (mark) state.current.onPick(mark.id);
    };
    select(element).call(behaviour.current).on("click", pick);
    const resized = new ResizeObserver(fit);
    resized.observe(element);
    const themes = new MutationObserver(repaint);
    themes.observe(document.documentElement, { attributes: true });
    fit();
    // A zoom applies to the time span in which it was made.
    if (zoomed.current.from !== from || zoomed.current.until !== until) {
      zoomed.current = { from, until };
      behaviour.current.transform(select(element), zoomIdentity);
    }
    report();
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      resized.disconnect();
      themes.disconnect();
      select(element).on(".zoom", null).on("click", null);
    };
  }, [from, until, height, marks, selected]);

  /** Zooms around the open record if it is visible, else around the middle. */
  const scaleBy = (factor: number) => {
    const element = canvas.current;
    if (!element) return;
    const open = marks.find((it) => it.id === selected);
    const time = state.current.transform.rescaleX(scaleUtc([new Date(from), new Date(until)], [0, element.clientWidth]));
    const x = open ? time(open.at) : Number.NaN;
    const around: [number, number] | undefined = x >= 0 && x <= element.clientWidth ? [x, 0] : undefined;
    behaviour.current.scaleBy(select(element), factor, around);
  };
  const moveBy = (share: number) => {
    const element = canvas.current;
    if (element) behaviour.current.translateBy(select(element), (share * element.clientWidth) / state.current.transform.k, 0);
  };
  const whole = () => canvas.current && behaviour.current.transform(select(canvas.current), zoomIdentity);
  return (
    <div class="timeline">
      <div class="row tools">
        <button type="button" onClick={() => scaleBy(STEP)}>
          {t.timeline.zoomIn}
        </button>
        <button type="button" onClick={() => scaleBy(1 / STEP)}>
          {t.timeline.zoomOut}
        </button>
        <button type="button" onClick={() => moveBy(0.5)}>
          {t.timeline.earlier}
        </button>
        <button type="button" onClick={() => moveBy(-0.5)}>
          {t.timeline.later}
        </button>
        <button type="button" onClick={whole}>
          {t.timeline.whole}
        </button>
      </div>
      <canvas ref={canvas} role="img" aria-label={t.timeline.picture(marks.length, lanes.length)} style={{ height: `${height}px` }} />
    </div>
  );
}
