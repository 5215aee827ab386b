import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../api/client";
import { noteSilence, revision } from "../api/session";
import { t } from "../strings";
import type { ViewProps } from "../views";
import { Busy, Trouble } from "./parts";

/** Returns true if the server serves the page. */
async function isServing(): Promise<boolean> {
  try {
    return (await fetch("/", { headers: { accept: "application/json" }, cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/**
 * Returns a view whose code is loaded when it is first opened. If loading fails because the server is away, it is tried again when
 * the server is back. If the server answers, the user has to reload the page: after an update, its files have other names.
 */
export function later(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  return function Later(props: ViewProps) {
    const [View, setView] = useState<ComponentType<ViewProps> | undefined>(() => loaded);
    const [problem, setProblem] = useState<"away" | "notLoaded">();
    const turn = revision.value;
    useEffect(() => {
      if (loaded) return;
      load().then(
        (it) => {
          loaded = it;
          setView(() => it);
        },
        async () => {
          const serving = await isServing();
          setProblem(serving ? "notLoaded" : "away");
          if (!serving) noteSilence();
        },
      );
    }, [turn]);
    if (View) return <View {...props} />;
    if (problem === "notLoaded") return <NotLoaded />;
    return problem ? <Trouble failure={new Failure(0, "", "", "")} /> : <Busy />;
  };
}

function NotLoaded() {
  return (
    <div class="trouble" role="alert">
      <strong>{t.trouble.notLoaded}</strong>
      <p>{t.trouble.notLoadedHint}</p>
      <button type="button" onClick={() => location.reload()}>
        {t.trouble.reload}
      </button>
    </div>
  );
}
