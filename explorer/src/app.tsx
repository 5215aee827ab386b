import { useEffect } from "preact/hooks";
import { call } from "./api/client";
import { access, key, keyNeeded, online } from "./api/session";
import type { Access } from "./api/types";
import { useLoaded } from "./lib/load";
import { route } from "./lib/route";
import { t } from "./strings";
import { Busy, Empty, Trouble } from "./ui/parts";
import { Frame } from "./ui/frame";
import { SignIn } from "./views/sign-in";
import { findView } from "./views";

export function App() {
  return keyNeeded.value ? <SignIn /> : <Opened />;
}

/** The explorer for a user who is signed in. Reads the spaces and rights of the key first. */
function Opened() {
  const read = useLoaded((signal) => call<Access>("/v1/access", { signal }), [key.value]);
  useEffect(() => {
    if (read.value) access.value = read.value;
  }, [read.value]);
  return (
    <Frame>
      {!online.value && (
        <p class="banner" role="alert">
          {t.trouble.away}
        </p>
      )}
      {access.value ? <Current /> : read.failure && !read.failure.unreachable ? <Trouble failure={read.failure} /> : <Busy />}
    </Frame>
  );
}

function Current() {
  const { space, view, id } = route.value;
  const found = findView(view, space);
  const title = found ? found.label : t.trouble.noView;
  useEffect(() => {
    document.title = [title, space, "Mnemic"].filter(Boolean).join(" · ");
  }, [title, space]);
  if (!found) return <Empty title={t.trouble.noView} />;
  const View = found.component;
  return <View key={`${space}/${view}`} space={space} id={id} />;
}
