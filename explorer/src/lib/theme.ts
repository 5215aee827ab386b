import { signal } from "@preact/signals";

const STORED = "mnemic.theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function stored(): Theme {
  const value = localStorage.getItem(STORED);
  return THEMES.find((theme) => theme === value) ?? "auto";
}

/** The colour theme: that of the system, light or dark. */
export const theme = signal<Theme>(stored());

export function applyTheme(): void {
  const root = document.documentElement;
  if (theme.value === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme.value;
}

/** Switches to the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "auto";
  localStorage.setItem(STORED, theme.value);
  applyTheme();
}
