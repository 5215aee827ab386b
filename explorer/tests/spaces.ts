import type { Route } from "@playwright/test";

/** Returns a page of a list of spaces that never ends, with as many spaces as the request wants. */
export function manySpaces(route: Route) {
  const limit = Number(new URL(route.request().url()).searchParams.get("limit"));
  const items = Array.from({ length: limit }, (_, at) => ({
    space: `many-${at}`,
    created_at: "2025-01-01T00:00:00Z",
    records: 0,
    units: 0,
    watermark: "w1",
  }));
  return { items, next: "more" };
}
