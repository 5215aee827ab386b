import { type SeenUnit, callTool, relatedTo } from "../api/tools";
import { minute } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Badge, Shown, Words } from "./parts";

/** Maximum number of neighbours and relations that are shown. */
const SHOWN = 20;

interface Stated {
  fact: string;
  text: string;
  holds: boolean;
}

interface Around {
  context: SeenUnit[];
  related: SeenUnit[];
  facts: Stated[];
}

async function look(space: string, unit: string, asOf: string, signal: AbortSignal): Promise<Around> {
  const tool = <Result,>(name: string, body: object) => callTool<Result>(space, { name, body, asOf, signal });
  const [context, related, gist] = await Promise.all([
    tool<{ units?: SeenUnit[] }>("query_event_context", { unit, before: 2, after: 2 }),
    relatedTo(space, unit, SHOWN, { asOf, signal }),
    tool<{ facts?: Stated[] }>("find_gist_contexts", { gist_id: unit, limit: SHOWN }),
  ]);
  return { context: context?.units ?? [], related, facts: gist?.facts ?? [] };
}

/** The turns around a unit, its related units and the facts that it states. */
export function Surroundings({ space, unit, asOf = "" }: { space: string; unit: string; asOf?: string }) {
  const around = useLoaded((signal) => look(space, unit, asOf, signal), [space, unit, asOf]);
  return (
    <Shown from={around}>
      {(it) => (
        <>
          {it.context.length > 0 && <h3>{t.explain.context}</h3>}
          <ul class="plain">
            {it.context.map((seen) => (
              <SeenLine key={seen.unit} space={space} it={seen} strong={seen.unit === unit} />
            ))}
          </ul>
          {it.facts.length > 0 && <h3>{t.explain.facts}</h3>}
          <ul class="plain">
            {it.facts.map((fact) => (
              <li key={fact.fact}>
                <a href={link(space, "facts", fact.fact)} class={fact.holds ? "" : "past"}>
                  <Words text={fact.text} />
                </a>
              </li>
            ))}
          </ul>
          {it.related.length > 0 && <h3>{t.explain.related}</h3>}
          <ul class="plain">
            {it.related.map((seen) => (
              <SeenLine key={`${seen.unit}${seen.relation}`} space={space} it={seen} />
            ))}
          </ul>
        </>
      )}
    </Shown>
  );
}

function SeenLine({ space, it, strong = false }: { space: string; it: SeenUnit; strong?: boolean }) {
  const record = it.external_ids[0];
  return (
    <li class={strong ? "strong" : ""}>
      {it.relation && <Badge>{it.relation.replaceAll("_", " ")}</Badge>}
      {it.actor && (
        <strong>
          <Words text={it.actor} />{" "}
        </strong>
      )}
      <Words text={it.text} most={500} />{" "}
      <span class="hint">
        {minute(it.observed_at)}
        {record && (
          <>
            {" · "}
            <a href={link(space, "timeline", record)}>
              <bdi>{record}</bdi>
            </a>
          </>
        )}
      </span>
    </li>
  );
}
