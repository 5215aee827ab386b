import type { ComponentType } from "preact";
import { may } from "../api/session";
import { NO_SPACE, type Route, link } from "../lib/route";
import { t } from "../strings";
import { later } from "../ui/later";
import { Ask } from "./ask";
import { Spaces } from "./spaces";

export interface ViewProps {
  space: string;
  id: string;
}

interface View {
  name: string;
  label: string;
  component: ComponentType<ViewProps>;
  /** Whether the view needs the right `admin`. */
  admin?: boolean;
}

// Views that are not shown first are loaded when they are opened, so that the first view appears sooner.
const Curation = later(() => import("./curation").then((it) => it.Curation));
const Docs = later(() => import("./docs").then((it) => it.Docs));
const Erasure = later(() => import("./erasure").then((it) => it.Erasure));
const Facts = later(() => import("./facts").then((it) => it.Facts));
const Graph = later(() => import("./graph").then((it) => it.Graph));
const Operations = later(() => import("./operations").then((it) => it.Operations));
const Pages = later(() => import("./pages").then((it) => it.Pages));
const Recall = later(() => import("./recall").then((it) => it.Recall));
const Timeline = later(() => import("./timeline").then((it) => it.Timeline));
const Topics = later(() => import("./topics").then((it) => it.Topics));

const IN_SPACE: View[] = [
  { name: "ask", label: t.ask.title, component: Ask },
  { name: "timeline", label: t.timeline.title, component: Timeline },
  { name: "facts", label: t.facts.title, component: Facts },
  { name: "graph", label: t.graph.title, component: Graph },
  { name: "topics", label: t.topics.title, component: Topics },
  { name: "pages", label: t.pages.title, component: Pages },
  { name: "recall", label: t.recall.title, component: Recall },
  { name: "curation", label: t.curation.title, component: Curation },
  { name: "erasure", label: t.erasure.title, component: Erasure },
];
const OUTSIDE: View[] = [
  { name: "", label: t.spaces.title, component: Spaces },
  { name: "operations", label: t.operations.title, component: Operations, admin: true },
  { name: "docs", label: t.docs.title, component: Docs },
];

/** Returns the view of a route, if there is one. */
export function findView(name: string, space: string): View | undefined {
  if (space === "" || space === NO_SPACE) return OUTSIDE.find((view) => view.name === name);
  return IN_SPACE.find((view) => view.name === (name || "ask"));
}

/** Returns the links of the navigation. */
export function viewsOf(space: string) {
  const inside = space
    ? IN_SPACE.map((view) => ({
        ...view,
        href: link(space, view.name),
        current: (it: Route) => (it.view || "ask") === view.name && it.space === space,
      }))
    : [];
  const outside = OUTSIDE.filter((view) => !view.admin || may("admin")).map((view) => ({
    ...view,
    href: view.name ? link(NO_SPACE, view.name) : link("", ""),
    current: (it: Route) => (it.space === "" || it.space === NO_SPACE) && it.view === view.name,
  }));
  return [...inside, ...outside];
}
