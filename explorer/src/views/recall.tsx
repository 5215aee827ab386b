import { useState } from "preact/hooks";
import { Failure, call, inSpace } from "../api/client";
import { may } from "../api/session";
import type { RecallResponse } from "../api/types";
import { duration, fixed, minute } from "../lib/format";
import { link } from "../lib/route";
import { t } from "../strings";
import { Check, Field, Prompt } from "../ui/field";
import { Badge, Busy, Card, Empty, Heading, Trouble, Words } from "../ui/parts";
import type { ViewProps } from ".";

/** Number of hints to request; this is the server's maximum. */
const HINTS = 10;

/** Returns a name for a new session, so that the recall notes of agents' sessions are not affected. */
const ownSession = () => `explorer ${Math.random().toString(36).slice(2, 10)}`;

/** A response of the server, and the session that the request named. */
interface Answer {
  session: string;
  response: RecallResponse;
}

export function Recall({ space }: ViewProps) {
  const [message, setMessage] = useState("");
  const [actor, setActor] = useState("");
  const [session, setSession] = useState(ownSession);
  const [sensitive, setSensitive] = useState(false);
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer>();
  const [failure, setFailure] = useState<Failure>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    setAnswer(undefined);
    try {
      const body = { message, actor, session: session.trim() || ownSession(), sensitive, limit: HINTS };
      const response = await call<RecallResponse>(inSpace(space, "recall"), { method: "POST", body });
      setAnswer({ session: body.session, response });
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  return (
    <>
      <Heading title={t.recall.title} hint={t.recall.hint} />
      <form class="card ask" onSubmit={submit}>
        <Prompt
          label={t.recall.message}
          placeholder={t.recall.placeholder}
          submit={t.recall.submit}
          value={message}
          onValue={setMessage}
        />
        <div class="row">
          <Field label={t.timeline.actor} value={actor} onValue={setActor} />
          <Field label={t.timeline.session} value={session} onValue={setSession} hint={t.recall.sessionHint} />
          <Check label={t.recall.sensitive} checked={sensitive} onChecked={setSensitive} />
        </div>
      </form>
      {busy && <Busy />}
      {failure && <Trouble failure={failure} />}
      {answer && <Hints key={answer.response.trace_id} space={space} session={answer.session} it={answer.response} />}
      {!busy && !failure && !answer && <Empty title={t.recall.start} />}
    </>
  );
}

function Hints({ space, session, it }: { space: string; session: string; it: RecallResponse }) {
  return (
    <>
      {it.degraded.map((reason) => (
        <p key={reason} class="notice">
          {reason}
        </p>
      ))}
      {it.hints.length === 0 && (
        <Empty title={t.recall.silent}>
          <p>{it.silent}</p>
        </Empty>
      )}
      {it.hints.map((hint) => (
        <HintCard key={hint.id} space={space} session={session} hint={hint} />
      ))}
      {it.hints.length > 0 && it.silent && <p class="hint">{it.silent}</p>}
      <p class="hint">{t.recall.cost(it.cost.candidates, duration(it.cost.ms))}</p>
    </>
  );
}

function HintCard({ space, session, hint }: { space: string; session: string; hint: RecallResponse["hints"][number] }) {
  const [dismissed, setDismissed] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const dismiss = async () => {
    setFailure(undefined);
    try {
      await call(inSpace(space, "recall", "dismiss"), { method: "POST", body: { session, hints: [hint.id] } });
      setDismissed(true);
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <Card class={dismissed ? "past" : ""}>
      <p>
        <Badge kind={hint.trigger === "contradiction" ? "bad" : ""}>{hint.trigger.replaceAll("_", " ")}</Badge>
        {hint.sensitivity !== "open" && <Badge kind="warn">{hint.sensitivity}</Badge>}
        {!hint.valid && <Badge kind="warn">{t.recall.over(minute(hint.valid_until))}</Badge>}
        <Words text={hint.reason} />
      </p>
      <blockquote>
        <Words text={hint.text} />
      </blockquote>
      {(hint.sides ?? []).map((side) => (
        <blockquote key={side}>
          <Words text={side} />
        </blockquote>
      ))}
      <p class="tags hint">
        {hint.external_ids.map((id) => (
          <a key={id} href={link(space, "timeline", id)}>
            <bdi>{id}</bdi>
          </a>
        ))}
        {(hint.facts ?? []).map((id) => (
          <a key={id} href={link(space, "facts", id)}>
            {t.facts.one}
          </a>
        ))}
        <span>{t.recall.score(fixed(hint.score))}</span>
      </p>
      {may("write") && (
        <button type="button" disabled={dismissed} onClick={dismiss}>
          {dismissed ? t.recall.dismissed : t.recall.dismiss}
        </button>
      )}
      {failure && <Trouble failure={failure} />}
    </Card>
  );
}
