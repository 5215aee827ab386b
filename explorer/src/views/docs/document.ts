/** The parts of an OpenAPI document that the page reads. */
export interface Document {
  info: { title: string; version: string; description?: string };
  paths: { [path: string]: { [method: string]: Operation } };
  components: { schemas: { [name: string]: Schema } };
}

export interface Operation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: { [type: string]: Content } };
  responses: { [status: string]: { description?: string; content?: { [type: string]: Content } } };
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: { [name: string]: { value?: unknown } };
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: { [name: string]: Schema };
  additionalProperties?: boolean | Schema;
  required?: string[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** An operation with its method and path. */
export interface Route {
  method: string;
  path: string;
  operation: Operation;
}

/** Returns the operations by tag, in the order of the document. */
export function byTag(document: Document): Map<string, Route[]> {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  return Map.groupBy(routes, (it) => it.operation.tags?.[0] ?? "");
}

export function refName(schema: Schema | undefined): string | undefined {
  return schema?.$ref?.split("/").pop();
}

/** Returns the examples of a body by name; if there are none, one generated from the schema. */
export function examples(document: Document, operation: Operation): { name: string; value: unknown }[] {
  const content = operation.requestBody?.content["application/json"];
  if (!content) return [];
  const named = Object.entries(content.examples ?? {}).map(([name, it]) => ({ name, value: it.value }));
  if (named.length > 0) return named;
  if (content.example !== undefined) return [{ name: "", value: content.example }];
  return [{ name: "", value: sample(document, content.schema, 0) }];
}

/** Greatest nesting depth of a generated example. */
const DEEPEST = 4;

/** Returns a value that fits a schema: default values where they exist, and otherwise only required fields. */
function sample(document: Document, schema: Schema | undefined, depth: number): unknown {
  if (!schema || depth > DEEPEST) return null;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  const name = refName(schema);
  if (name) return sample(document, document.components.schemas[name], depth + 1);
  if (schema.enum) return schema.enum[0];
  const choice = schema.oneOf?.find((it) => it.type !== "null") ?? schema.allOf?.[0];
  if (choice) return sample(document, choice, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "object") {
    const required = schema.required ?? [];
    return Object.fromEntries(required.map((it) => [it, sample(document, schema.properties?.[it], depth + 1)]));
  }
  if (type === "array") return [sample(document, schema.items, depth + 1)];
  if (type === "integer" || type === "number") return schema.minimum ?? 0;
  return type === "boolean" ? false : "";
}
