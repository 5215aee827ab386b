import { signal } from "@preact/signals";

/**
 * The address of a view: `#/SPACE/VIEW/ID?PARAMETERS`. The part after `#` is never sent to the server, so it is not in its logs.
 */
export interface Route {
  space: string;
  view: string;
  id: string;
  params: URLSearchParams;
}

/** The name in routes without a space; names of spaces cannot contain this character. */
export const NO_SPACE = "~";

function part(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return "";
  }
}

/** The server serves the explorer at `/docs` too. */
const START = location.pathname === "/docs" ? `${NO_SPACE}/docs` : "";

function read(): Route {
  const [path = "", query = ""] = (location.hash || START).replace(/^#\/?/, "").split("?", 2);
  const [space, view, ...rest] = path.split("/");
  return { space: part(space), view: part(view), id: part(rest.join("/")), params: new URLSearchParams(query) };
}

export const route = signal<Route>(read());
addEventListener("hashchange", () => {
  route.value = read();
});

export type Params = { [name: string]: string | number | undefined };

/** Returns the link to a view. */
export function link(space: string, view: string, id = "", params: Params = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") given.set(name, String(value));
  }
  const query = given.toString();
  const path = [space, view, id].filter((it) => it !== "").map(encodeURIComponent);
  return `#/${path.join("/")}${query ? `?${query}` : ""}`;
}

/** Navigates to a link; with `replace`, adds no entry to the history. */
export function go(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", to);
    route.value = read();
  } else {
    location.hash = to;
  }
}
