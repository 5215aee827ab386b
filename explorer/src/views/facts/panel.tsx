import { useState } from "preact/hooks";
import { Failure, call, inSpace } from "../../api/client";
import { may } from "../../api/session";
import type { Curated, Fact, Listed, NewAct } from "../../api/types";
import { minute, percent } from "../../lib/format";
import { useLoaded, useRemovalSignal } from "../../lib/load";
import { link } from "../../lib/route";
import { t } from "../../strings";
import { Act, decide } from "../../ui/act";
import { Field } from "../../ui/field";
import { Badge, Card, Pairs, Shown, Trouble, Words } from "../../ui/parts";
import { Surroundings } from "../../ui/surroundings";
import { holds } from "./slots";

/** Maximum number of values of the same predicate that are shown. */
const VALUES = 50;

interface Opened {
  fact: Fact;
  others: Fact[];
}

async function read(space: string, id: string, signal: AbortSignal): Promise<Opened> {
  const fact = await call<Fact>(inSpace(space, "facts", id), { signal });
  const query = { subject: fact.subject, predicate: fact.predicate, limit: VALUES };
  const same: Listed<Fact> = await call(inSpace(space, "facts"), { query, signal });
  const others = same.items.filter((it) => it.id !== id);
  return { fact, others: others.sort((a, b) => Date.parse(a.recorded_at) - Date.parse(b.recorded_at)) };
}

/** A fact with its times, its history, its other values and the line that states it. */
export function FactPanel({ space, id }: { space: string; id: string }) {
  const opened = useLoaded((signal) => read(space, id, signal), [space, id]);
  return (
    <Card class="panel">
      <div class="heading">
        <h2>{t.facts.one}</h2>
        <a href={link(space, "facts")}>{t.close}</a>
      </div>
      <Shown from={opened}>
        {({ fact, others }) => (
          <>
            <p class="answer">
              <Words text={`${fact.subject} ${fact.predicate} ${fact.object}`} most={1000} />
              {fact.withdrawn && <Badge kind="bad">{t.facts.withdrawn}</Badge>}
            </p>
            <Times it={fact} space={space} />
            {may("write") && !fact.withdrawn && <Changes key={fact.id} space={space} fact={fact} />}
            <History space={space} fact={fact} others={others} />
            <h3>{t.facts.source}</h3>
            <Surroundings space={space} unit={fact.source} />
          </>
        )}
      </Shown>
    </Card>
  );
}

function Times({ it, space }: { it: Fact; space: string }) {
  return (
    <Pairs
      rows={[
        { name: t.facts.aspect, value: it.aspect },
        { name: t.facts.since, value: it.valid_from.precision === "unknown" ? t.facts.unknown : minute(it.valid_from.start) },
        { name: t.facts.words, value: it.valid_from.words && <Words text={it.valid_from.words} /> },
        { name: t.facts.until, value: minute(it.valid_until) || t.facts.stillHolds },
        { name: t.facts.known, value: minute(it.recorded_at) },
        { name: t.facts.closed, value: minute(it.closed_at) },
        { name: t.facts.toldBy, value: it.told_by && <Words text={it.told_by} /> },
        { name: t.facts.origin, value: t.facts.origins[it.origin ?? "rule"] },
        { name: t.facts.confidence, value: percent(it.confidence) },
        { name: t.facts.retiredBy, value: it.retired_by && <a href={link(space, "facts", it.retired_by)}>{t.facts.thatFact}</a> },
      ]}
    />
  );
}

function History({ space, fact, others }: { space: string; fact: Fact; others: Fact[] }) {
  const former = fact.former ?? [];
  return (
    <>
      {others.length > 0 && <h3>{t.facts.others}</h3>}
      <ul class="plain">
        {others.map((it) => (
          <li key={it.id}>
            <a href={link(space, "facts", it.id)} class={holds(it, "") ? "" : "past"}>
              <Words text={it.object} most={300} />
            </a>{" "}
            <span class="hint">{t.facts.valid(minute(it.valid_from.start), minute(it.valid_until))}</span>
          </li>
        ))}
      </ul>
      {former.length > 0 && <h3>{t.facts.former}</h3>}
      <ul class="plain">
        {former.map((it) => (
          <li key={it.until}>
            {t.facts.untilThen(minute(it.until))}{" "}
            {it.fact ? <Words text={it.fact.object} most={300} /> : <span class="hint">{t.facts.wasNone}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The actions "correct" and "retire", each with a reason for the audit log. */
function Changes({ space, fact }: { space: string; fact: Fact }) {
  const [object, setObject] = useState(fact.object);
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState<Curated>();
  const [failure, setFailure] = useState<Failure>();
  const removal = useRemovalSignal();
  const correct = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      const act: NewAct = { kind: "correct_fact", fact: fact.id, object: object.trim() };
      setDone(await decide(space, act, removal, reason));
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  return (
    <form class="changes" onSubmit={correct}>
      <div class="row">
        <Field label={t.facts.newValue} value={object} onValue={setObject} required />
        <Field label={t.facts.reason} value={reason} onValue={setReason} />
        <button type="submit" disabled={busy || object.trim() === fact.object || object.trim() === ""}>
          {busy ? t.act.busy : t.facts.correct}
        </button>
      </div>
      <p class="actions">
        <Act space={space} label={t.facts.retire} act={{ kind: "retire_fact", fact: fact.id }} reason={reason} kind="danger" />
        {done && <Act space={space} label={t.facts.undoCorrection} act={{ kind: "undo", curation: done.curation.id }} />}
      </p>
      {failure && <Trouble failure={failure} />}
    </form>
  );
}
