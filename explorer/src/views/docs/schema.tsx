import type { ComponentChildren } from "preact";
import { NO_SPACE, link } from "../../lib/route";
import { t } from "../../strings";
import { type Schema, refName } from "./document";

/** The name of a type; a named type is a link. */
export function TypeName({ schema }: { schema: Schema | undefined }): ComponentChildren {
  if (!schema) return null;
  const name = refName(schema);
  if (name) return <a href={link(NO_SPACE, "docs", name)}>{name}</a>;
  const parts = schema.oneOf ?? schema.allOf;
  if (parts) {
    return parts.map((part, at) => (
      <span key={at}>
        {at > 0 && " | "}
        <TypeName schema={part} />
      </span>
    ));
  }
  if (schema.items) {
    return (
      <>
        <TypeName schema={schema.items} />
        []
      </>
    );
  }
  if (schema.enum) return <code>{schema.enum.map(String).join(" | ")}</code>;
  const types = [schema.type ?? t.docs.any].flat().join(" | ");
  return <code>{schema.format ? `${types} (${schema.format})` : types}</code>;
}

interface Row {
  name: string;
  required: boolean;
  schema: Schema;
  note: string;
}

/** Returns the limits of a value as text. */
function bounds(it: Schema): string {
  const said = [
    it.minimum !== undefined && `≥ ${it.minimum}`,
    it.maximum !== undefined && `≤ ${it.maximum}`,
    it.minLength !== undefined && t.docs.atLeast(it.minLength),
    it.maxLength !== undefined && t.docs.atMost(it.maxLength),
    it.maxItems !== undefined && t.docs.items(it.maxItems),
    it.default !== undefined && it.default !== null && t.docs.byDefault(JSON.stringify(it.default)),
  ];
  return said.filter(Boolean).join(", ");
}

export function SchemaTable({ rows }: { rows: Row[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={t.docs.fields}>
      <table>
        <tbody>
          {rows.map((it) => (
            <tr key={it.name}>
              <th scope="row">
                <code>{it.name}</code> {it.required && <span class="hint">{t.docs.required}</span>}{" "}
                {it.note && <span class="hint">{it.note}</span>}
              </th>
              <td>
                <TypeName schema={it.schema} />
              </td>
              <td>
                {it.schema.description} <span class="hint">{bounds(it.schema)}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
