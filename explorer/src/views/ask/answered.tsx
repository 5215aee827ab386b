import { useState } from "preact/hooks";
import type { TimedStep } from "../../api/question";
import type { PackItem, QueryResponse, UnitExplanation } from "../../api/types";
import { percent } from "../../lib/format";
import { t } from "../../strings";
import { Badge, Card, Words } from "../../ui/parts";
import { QuestionCost } from "./cost";
import { Explained } from "./explained";
import { Steps } from "./steps";

/** Maximum number of units that are shown of those left out of the evidence. */
const LEFT_OUT_SHOWN = 12;

interface Props {
  space: string;
  response: QueryResponse;
  asOf: string;
}

/** Verdict, answer, evidence and cost of a question. */
export function Answered({ space, response, steps, asOf }: Props & { steps: TimedStep[] }) {
  const explained = new Map((response.explained ?? []).map((it: UnitExplanation) => [it.unit, it]));
  return (
    <>
      <Verdict response={response} />
      {response.degraded.length > 0 && (
        <div class="notice" role="status">
          <strong>{t.ask.degraded}</strong>
          {response.degraded.map((it) => (
            <p key={it}>{it}</p>
          ))}
        </div>
      )}
      <Card title={t.ask.evidence} class="evidence">
        {response.pack.items.length === 0 ? <p>{t.ask.noEvidence}</p> : <p class="hint">{t.ask.evidenceHint}</p>}
        <ol class="lines">
          {response.pack.items.map((it) => (
            <EvidenceLine key={it.unit} space={space} item={it} explanation={explained.get(it.unit)} asOf={asOf} />
          ))}
        </ol>
      </Card>
      <LeftOut space={space} response={response} asOf={asOf} />
      <Steps steps={steps} />
      <QuestionCost response={response} />
    </>
  );
}

function Verdict({ response }: { response: QueryResponse }) {
  const { answer, verdict } = response;
  const nearest = verdict.nearest ?? [];
  return (
    <Card class="verdict">
      <p class="answer">
        <Badge kind={verdict.status}>{t.ask.verdicts[verdict.status]}</Badge>
        {answer ? <strong><Words text={answer.text} /></strong> : <span class="hint">{t.ask.noAnswer}</span>}
        {answer && <span class="hint">{t.ask.sure(percent(answer.confidence))}</span>}
      </p>
      {verdict.reasons.map((reason) => (
        <p key={reason}>
          <Words text={reason} />
        </p>
      ))}
      {answer && answer.external_ids.length > 0 && (
        <p class="hint">
          {t.ask.supports}: <Words text={answer.external_ids.join(", ")} />
        </p>
      )}
      {nearest.length > 0 && (
        <>
          <h3>{t.ask.nearest}</h3>
          <ul class="plain">
            {nearest.map((miss) => (
              <li key={miss.unit}>
                <Words text={miss.text} most={400} />
                <p class="hint">{miss.reason}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

interface LineProps {
  space: string;
  item: PackItem;
  explanation: UnitExplanation | undefined;
  asOf: string;
}

/** A line of the pack. The dates in its text are the dates that a model sees. */
function EvidenceLine({ space, item, explanation, asOf }: LineProps) {
  const [open, setOpen] = useState(false);
  return (
    <li class={open ? "open" : ""}>
      <button type="button" class="line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Words text={item.text} />
        <span class="meter" aria-hidden="true">
          <span style={{ width: percent(item.probability).replace(" ", "") }} />
        </span>
      </button>
      {open && <Explained space={space} unit={item.unit} explanation={explanation} records={item.external_ids} asOf={asOf} />}
    </li>
  );
}

function LeftOut({ space, response, asOf }: Props) {
  const texts = new Map((response.ranked ?? []).map((it) => [it.unit, it.text]));
  const left = (response.explained ?? []).filter((it: UnitExplanation) => !it.packed);
  const [open, setOpen] = useState("");
  if (left.length === 0) return null;
  return (
    <details class="card">
      <summary>
        {t.ask.left} ({left.length})
      </summary>
      <p class="hint">{t.ask.leftHint}</p>
      <ol class="lines">
        {left.slice(0, LEFT_OUT_SHOWN).map((it) => (
          <li key={it.unit} class={open === it.unit ? "open" : ""}>
            <button
              type="button"
              class="line"
              aria-expanded={open === it.unit}
              onClick={() => setOpen(open === it.unit ? "" : it.unit)}
            >
              <Words text={texts.get(it.unit) ?? it.external_ids.join(", ")} most={400} />
              <span class="hint">{it.reason}</span>
            </button>
            {open === it.unit && (
              <Explained space={space} unit={it.unit} explanation={it} records={it.external_ids} asOf={asOf} />
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}
