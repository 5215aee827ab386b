import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../api/client";
import { noteSilence, revision } from "../api/session";
import type { ViewProps } from "../views";
import { Busy, Trouble } from "./parts";

/** Returns a view whose code is loaded when it is first opened. If loading fails, it is tried again when the server is back. */
export function later(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  return function Later(props: ViewProps) {
    const [View, setView] = useState<ComponentType<ViewProps> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    const turn = revision.value;
    useEffect(() => {
      if (loaded) return;
      load().then(
        (it) => {
          loaded = it;
          setView(() => it);
        },
        () => {
          setFailed(true);
          noteSilence();
        },
      );
    }, [turn]);
    if (View) return <View {...props} />;
    return failed ? <Trouble failure={new Failure(0, "", "", "")} /> : <Busy />;
  };
}
