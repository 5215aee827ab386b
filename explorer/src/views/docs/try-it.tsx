import { useId, useState } from "preact/hooks";
import { Failure, call } from "../../api/client";
import { t } from "../../strings";
import { Field } from "../../ui/field";
import { Trouble } from "../../ui/parts";
import { type Document, type Route, examples } from "./document";

/** Maximum number of characters of a response that are shown. */
const SHOWN = 50_000;

/** Returns the path with the values of its parameters. */
function filled(path: string, values: { [name: string]: string }): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** A form that sends a call with the user's key and shows the response. */
export function TryIt({ document, route }: { document: Document; route: Route }) {
  const id = useId();
  const given = examples(document, route.operation);
  const parameters = (route.operation.parameters ?? []).filter((it) => it.in !== "header");
  const [values, setValues] = useState<{ [name: string]: string }>({});
  const [body, setBody] = useState(given[0] ? JSON.stringify(given[0].value, null, 2) : "");
  const [response, setResponse] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const send = async (event: Event) => {
    event.preventDefault();
    setFailure(undefined);
    setResponse(undefined);
    const query = Object.fromEntries(parameters.filter((it) => it.in === "query").map((it) => [it.name, values[it.name]]));
    try {
      const parsed: unknown = body.trim() ? JSON.parse(body) : undefined;
      const result = await call(filled(route.path, values), { method: route.method, query, body: parsed });
      setResponse(JSON.stringify(result, null, 2).slice(0, SHOWN));
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(-1, t.docs.noJson, String(error), ""));
    }
  };
  return (
    <form onSubmit={send}>
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
      {response !== undefined && <pre role="status">{response}</pre>}
    </form>
  );
}
