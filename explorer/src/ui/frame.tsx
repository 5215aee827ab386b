import type { ComponentChildren } from "preact";
import { call } from "../api/client";
import { access, key, signOut } from "../api/session";
import type { Listed, Space } from "../api/types";
import { useLoaded } from "../lib/load";
import { NO_SPACE, go, link, route } from "../lib/route";
import { nextTheme, theme } from "../lib/theme";
import { t } from "../strings";
import { viewsOf } from "../views";

/** Maximum number of spaces in the box at the top. If there are more, its last entry leads to the list of spaces. */
const OFFERED = 200;

/** The frame around every view: the current position and the navigation. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { space, view } = route.value;
  const inSpace = space !== "" && space !== NO_SPACE;
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        {t.skip}
      </a>
      <header class="top">
        <a class="brand" href={link("", "")}>
          <span aria-hidden="true" class="mark" />
          Mnemic
        </a>
        {access.value && <SpaceBox space={inSpace ? space : ""} view={view} />}
        <div class="grow" />
        <button type="button" class="quiet" onClick={nextTheme}>
          {t.themes[theme.value]}
        </button>
        {key.value && (
          <button type="button" class="quiet" onClick={signOut} title={access.value?.name}>
            {t.signOut}
          </button>
        )}
      </header>
      <nav class="side" aria-label={t.views}>
        {viewsOf(inSpace ? space : "").map((it) => (
          <a key={it.name} href={it.href} aria-current={it.current(route.value) ? "page" : undefined}>
            {it.label}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** The part after `#` is used by routes, so this link moves the focus by script. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function SpaceBox({ space, view }: { space: string; view: string }) {
  const spaces = useLoaded((signal) => call<Listed<Space>>("/v1/spaces", { query: { limit: OFFERED }, signal }), []);
  const names = (spaces.value?.items ?? []).map((it) => it.space);
  if (space && !names.includes(space)) names.unshift(space);
  return (
    <select
      aria-label={t.space}
      value={space}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        // This entry is not a space, so the box keeps showing the current one.
        if (chosen === NO_SPACE) event.currentTarget.value = space;
        go(chosen && chosen !== NO_SPACE ? link(chosen, view && space ? view : "ask") : link("", ""));
      }}
    >
      <option value="">{t.allSpaces}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
      {spaces.value?.next && <option value={NO_SPACE}>{t.spaces.others}</option>}
    </select>
  );
}
