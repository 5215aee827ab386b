import type { TimedStep } from "../../api/question";
import { duration } from "../../lib/format";
import { t } from "../../strings";
import { Card, Words } from "../../ui/parts";

/** The steps of a strategy in order, each with the number of units found and kept, and its duration. */
export function Steps({ steps }: { steps: TimedStep[] }) {
  if (steps.length === 0) return null;
  return (
    <Card title={t.ask.path}>
      <p class="hint">{t.ask.pathHint}</p>
      <ol class="path">
        {steps.map((it, at) => (
          <li key={at}>
            <strong>{it.step}</strong> <Words text={it.what} most={300} />
            <span class="hint">
              {" "}
              {t.ask.kept(it.found, it.kept.length)} · {duration(it.took)}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}
