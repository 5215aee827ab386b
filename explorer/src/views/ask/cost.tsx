import type { QueryResponse, Usage } from "../../api/types";
import { duration, whole } from "../../lib/format";
import { t } from "../../strings";
import { Card, Pairs } from "../../ui/parts";

const tokens = (it: Usage | undefined) => t.ask.modelTokens(whole(it?.prompt_tokens ?? 0), whole(it?.completion_tokens ?? 0));

/** The cost of a question: tokens of the pack, time by step, and calls of language models by purpose. */
export function QuestionCost({ response }: { response: QueryResponse }) {
  const { cost, pack } = response;
  const roles = Object.entries(cost.roles ?? {}).flatMap(([name, it]) => (it ? [{ name, it }] : []));
  return (
    <Card title={t.ask.cost} class="cost">
      <meter min={0} max={Math.max(1, pack.budget)} value={pack.tokens} aria-label={t.ask.cost} />
      <Pairs
        rows={[
          { name: t.ask.evidence, value: t.ask.spent(whole(pack.tokens), whole(pack.budget)) },
          { name: t.ask.time, value: duration(cost.ms) },
          { name: t.ask.calls, value: whole(cost.model_calls) },
          { name: t.ask.modelUsage, value: cost.model_calls > 0 && tokens(cost.usage) },
          { name: t.ask.candidates, value: whole(cost.candidates) },
        ]}
      />
      {roles.length > 0 && (
        <ul class="steps">
          {roles.map(({ name, it }) => (
            <li key={name}>
              {name}{" "}
              <span class="hint">
                {t.ask.callCount(it.calls)}, {tokens(it.usage)}, {duration(it.ms)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <ul class="steps">
        {cost.steps.map((it) => (
          <li key={it.step}>
            {it.step} <span class="hint">{duration(it.ms)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
