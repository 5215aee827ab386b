import { useState } from "preact/hooks";
import { call } from "../api/client";
import { useLoaded } from "../lib/load";
import { t } from "../strings";
import { Field } from "../ui/field";
import { Badge, Card, Heading, Shown } from "../ui/parts";
import { type Document, type Parameter, type Route, byTag } from "./docs/document";
import { SchemaTable, TypeName } from "./docs/schema";
import { TryIt } from "./docs/try-it";
import type { ViewProps } from ".";

/** The documentation of the API, from the server's own OpenAPI document, with a form for each call. */
export function Docs({ id }: ViewProps) {
  const document = useLoaded((signal) => call<Document>("/openapi.json", { signal }), []);
  return (
    <>
      <Heading title={t.docs.title} hint={t.docs.hint}>
        <a href="/openapi.json">{t.docs.raw}</a>
      </Heading>
      <Shown from={document}>
        {(it) => (id && it.components.schemas[id] ? <OneType document={it} name={id} /> : <Operations document={it} />)}
      </Shown>
    </>
  );
}

function Operations({ document }: { document: Document }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const fits = (it: Route) => `${it.method} ${it.path} ${it.operation.summary ?? ""}`.toLowerCase().includes(wanted);
  return (
    <>
      <Field label={t.filter} type="search" value={text} onValue={setText} />
      {[...byTag(document)].map(([tag, routes]) => {
        const shown = routes.filter(fits);
        return (
          shown.length > 0 && (
            <Card key={tag} title={tag}>
              {shown.map((it) => (
                <Call key={it.operation.operationId} document={document} route={it} />
              ))}
            </Card>
          )
        );
      })}
    </>
  );
}

function Call({ document, route }: { document: Document; route: Route }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="call" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Badge kind={route.method === "GET" ? "good" : route.method === "DELETE" ? "bad" : ""}>{route.method}</Badge>
        <code>{route.path}</code> <span class="hint">{route.operation.summary}</span>
      </summary>
      {open && <Details document={document} route={route} />}
    </details>
  );
}

function Details({ document, route }: { document: Document; route: Route }) {
  const { operation } = route;
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parameters = operation.parameters ?? [];
  return (
    <>
      {operation.description && <p>{operation.description}</p>}
      {parameters.length > 0 && <Parameters rows={parameters} />}
      {body && (
        <p>
          {t.docs.body}: <TypeName schema={body} />
        </p>
      )}
      <h3>{t.docs.responses}</h3>
      <ul class="plain">
        {Object.entries(operation.responses).map(([status, it]) => (
          <li key={status}>
            <Badge kind={status.startsWith("2") ? "good" : "warn"}>{status}</Badge> {it.description}{" "}
            <TypeName schema={Object.values(it.content ?? {})[0]?.schema} />
          </li>
        ))}
      </ul>
      <TryIt document={document} route={route} />
    </>
  );
}

function Parameters({ rows }: { rows: Parameter[] }) {
  return (
    <>
      <h3>{t.docs.parameters}</h3>
      <SchemaTable
        rows={rows.map((it) => ({
          name: it.name,
          required: it.required ?? false,
          schema: { ...it.schema, description: it.description ?? it.schema?.description ?? "" },
          note: it.in,
        }))}
      />
    </>
  );
}

/** A type with its values or fields; the types of the fields are links. */
function OneType({ document, name }: { document: Document; name: string }) {
  const schema = document.components.schemas[name] ?? {};
  const parts = schema.oneOf ?? schema.allOf ?? [schema];
  return (
    <>
      <p>
        <a href="#/~/docs">{t.docs.all}</a>
      </p>
      <Card title={name}>
        {schema.description && <p>{schema.description}</p>}
        {schema.enum && <p>{schema.enum.map((it) => <Badge key={String(it)}>{String(it)}</Badge>)}</p>}
        {parts.map((part, at) =>
          part.properties ? (
            <SchemaTable
              key={at}
              rows={Object.entries(part.properties).map(([field, of]) => ({
                name: field,
                required: part.required?.includes(field) ?? false,
                schema: of,
                note: "",
              }))}
            />
          ) : (
            !schema.enum && (
              <p key={at}>
                <TypeName schema={part} />
              </p>
            )
          ),
        )}
      </Card>
    </>
  );
}
