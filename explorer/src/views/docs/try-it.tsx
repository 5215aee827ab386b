import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Failure, type Query, send } from "../../api/client";
import { whole } from "../../lib/format";
import { t } from "../../strings";
import { Field } from "../../ui/field";
import { Trouble } from "../../ui/parts";
import { type Document, type Route, examples } from "./document";

/** Maximum number of characters of a response that are shown. */
const SHOWN = 50_000;
/** Time for which a stream is read, in milliseconds: streams of events have no end, and a key may open only a few. */
const STREAM_MS = 5_000;

/** Returns the path with the values of its parameters. */
function filled(path: string, values: { [name: string]: string }): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** Returns JSON with line breaks, and any other text unchanged; cut off if it is very long. */
function formatted(text: string): string {
  try {
    return JSON.stringify(text ? JSON.parse(text) : null, null, 2).slice(0, SHOWN);
  } catch {
    return text.slice(0, SHOWN);
  }
}

interface Sent {
  method: string;
  path: string;
  query: Query;
  body: unknown;
}

interface Received {
  text: string;
  /** Whether the response is a stream that the page stopped reading. */
  isCut: boolean;
}

/** Passes the text of a stream to `show` while it arrives. Closes the stream after a limited time or number of characters. */
async function readStream(response: Response, show: (soFar: Received) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let text = "";
  let isCut = false;
  const report = () => show({ text: text.slice(0, SHOWN), isCut });
  const close = () => {
    isCut = true;
    void reader.cancel().catch(() => undefined);
  };
  const timer = setTimeout(close, STREAM_MS);
  try {
    for (;;) {
      report();
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      if (text.length > SHOWN) close();
    }
  } finally {
    clearTimeout(timer);
  }
  report();
}

/** Sends calls, one at a time: a new call ends the one before. */
function useCall() {
  const [received, setReceived] = useState<Received>();
  const [failure, setFailure] = useState<Failure>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const refuse = (reason: Failure) => {
    running.current?.abort();
    setReceived(undefined);
    setFailure(reason);
  };
  const run = async ({ path, ...given }: Sent) => {
    running.current?.abort();
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setFailure(undefined);
    setReceived(undefined);
    const show = (soFar: Received) => {
      if (!signal.aborted) setReceived(soFar);
    };
    try {
      const response = await send(path, "application/json", { ...given, signal });
      if (response.headers.get("content-type")?.startsWith("text/event-stream")) await readStream(response, show);
      else show({ text: formatted(await response.text()), isCut: false });
    } catch (error) {
      if (!signal.aborted) setFailure(error instanceof Failure ? error : new Failure(-1, String(error), "", ""));
    }
  };
  return { received, failure, run, refuse };
}

/** A form that sends a call with the user's key and shows the response. */
export function TryIt({ document, route }: { document: Document; route: Route }) {
  const id = useId();
  const given = examples(document, route.operation);
  const parameters = (route.operation.parameters ?? []).filter((it) => it.in !== "header");
  const [values, setValues] = useState<{ [name: string]: string }>({});
  const [body, setBody] = useState(given[0] ? JSON.stringify(given[0].value, null, 2) : "");
  const { received, failure, run, refuse } = useCall();
  const submit = (event: Event) => {
    event.preventDefault();
    let parsed: unknown;
    try {
      parsed = body.trim() ? JSON.parse(body) : undefined;
    } catch (error) {
      refuse(new Failure(-1, t.docs.noJson, String(error), ""));
      return;
    }
    const query = Object.fromEntries(parameters.filter((it) => it.in === "query").map((it) => [it.name, values[it.name]]));
    void run({ method: route.method, path: filled(route.path, values), query, body: parsed });
  };
  return (
    <form onSubmit={submit}>
      <h3>{t.docs.tryIt}</h3>
      <div class="row">
        {parameters.map((it) => (
          <Field
            key={it.name}
            label={it.name}
            value={values[it.name] ?? ""}
            onValue={(value) => setValues({ ...values, [it.name]: value })}
            required={it.in === "path"}
          />
        ))}
      </div>
      {given.length > 0 && (
        <>
          <p class="actions">
            {given.map(
              (it) =>
                it.name && (
                  <button key={it.name} type="button" onClick={() => setBody(JSON.stringify(it.value, null, 2))}>
                    {it.name}
                  </button>
                ),
            )}
          </p>
          <label for={id}>{t.docs.body}</label>
          <textarea id={id} rows={8} spellcheck={false} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
        </>
      )}
      <button type="submit">{t.docs.send(route.method)}</button>
      {failure && <Trouble failure={failure} />}
      {received && <pre role="status">{received.text}</pre>}
      {received?.isCut && <p class="hint">{t.docs.streamCut(STREAM_MS / 1000, whole(SHOWN))}</p>}
    </form>
  );
}
