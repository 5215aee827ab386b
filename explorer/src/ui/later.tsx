import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ViewProps } from "../views";
import { Busy } from "./parts";

/** Returns a view that is loaded when it is first opened. */
export function later(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  return function Later(props: ViewProps) {
    const [View, setView] = useState<ComponentType<ViewProps>>();
    useEffect(() => {
      void load().then((it) => setView(() => it));
    }, []);
    return View ? <View {...props} /> : <Busy />;
  };
}
