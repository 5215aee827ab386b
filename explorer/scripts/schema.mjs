// Writes the types of the API from the OpenAPI document that the gateway's snapshot test keeps.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const root = new URL("../../", import.meta.url);
const name = "services/gateway/tests/it/snapshots/it__openapi__the_api_is_as_agreed.snap";
const snapshot = readFileSync(new URL(name, root), "utf8");
const document = JSON.parse(snapshot.slice(snapshot.indexOf("\n{")));
const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
writeFileSync(new URL("explorer/src/api/schema.d.ts", root), types);
