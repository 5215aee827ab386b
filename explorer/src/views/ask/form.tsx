import { useState } from "preact/hooks";
import { go } from "../../lib/route";
import { t } from "../../strings";
import { Check, Field, Moment, Prompt, Select } from "../../ui/field";
import { type Asked, addressOf, usesModel } from "./asked";

const MODEL_CALLS_MAX = 64;
const TOKENS_MAX = 32_000;

const options = (labels: { [value: string]: string }) => Object.entries(labels).map(([value, label]) => ({ value, label }));

interface FormProps {
  space: string;
  start: Asked;
  /** Called if the question is submitted again without a change: its address is open already. */
  onSame: () => void;
}

/** The form of a question and its limits; submitting it opens the address of the question. */
export function Form({ space, start, onSame }: FormProps) {
  const [it, setIt] = useState(start);
  const set = (part: Partial<Asked>) => setIt({ ...it, ...part });
  const submit = (event: Event) => {
    event.preventDefault();
    if (!it.question.trim()) return;
    const address = addressOf(space, it);
    if (address === addressOf(space, start)) onSame();
    else go(address);
  };
  return (
    <form class="card ask" onSubmit={submit}>
      <Prompt
        label={t.ask.question}
        placeholder={t.ask.placeholder}
        submit={t.ask.submit}
        value={it.question}
        onValue={(question) => set({ question })}
      />
      <div class="row">
        <Tokens value={it.tokens} onValue={(tokens) => set({ tokens })} />
        <Select
          label={t.ask.strategy}
          value={it.strategy}
          onValue={(strategy) => set({ strategy })}
          options={options(t.ask.strategies)}
        />
        <Moment label={t.ask.asOf} value={it.asOf} onValue={(asOf) => set({ asOf })} hint={t.ask.asOfHint} />
        <Field label={t.ask.tags} value={it.tags} onValue={(tags) => set({ tags })} hint={t.ask.tagsHint} />
      </div>
      <ModelSettings it={it} set={set} open={usesModel(start)} />
      <Check label={t.ask.compare} checked={it.compare} onChecked={(compare) => set({ compare })} />
      {it.compare && (
        <fieldset class="row">
          <legend>{t.ask.second}</legend>
          <Tokens value={it.otherTokens} onValue={(otherTokens) => set({ otherTokens })} />
          <Moment
            label={t.ask.asOf}
            value={it.otherAsOf}
            onValue={(otherAsOf) => set({ otherAsOf })}
            hint={t.ask.asOfHint}
          />
        </fieldset>
      )}
    </form>
  );
}

interface SettingsProps {
  it: Asked;
  set: (part: Partial<Asked>) => void;
  open: boolean;
}

function ModelSettings({ it, set, open }: SettingsProps) {
  return (
    <details open={open}>
      <summary>{t.ask.model}</summary>
      <p class="hint">{t.ask.modelHint}</p>
      <div class="row">
        <Field
          label={t.ask.mayCall}
          type="number"
          min={0}
          max={MODEL_CALLS_MAX}
          value={it.calls}
          onValue={(calls) => set({ calls })}
          required
        />
        <Select label={t.ask.style} value={it.style} onValue={(style) => set({ style })} options={options(t.ask.styles)} />
        <Check label={t.ask.verbatim} checked={it.verbatim} onChecked={(verbatim) => set({ verbatim })} />
      </div>
    </details>
  );
}

function Tokens({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  return (
    <Field label={t.ask.tokens} type="number" min={0} max={TOKENS_MAX} value={value} onValue={onValue} required />
  );
}
