import { useState } from "preact/hooks";
import { Failure, call } from "../../../api/client";
import { may } from "../../../api/session";
import type { ApiKeyToken, NewApiKey, Right } from "../../../api/types";
import { moment } from "../../../lib/format";
import { t } from "../../../strings";
import { Check, Field, Moment } from "../../../ui/field";
import { Trouble } from "../../../ui/parts";

const RIGHTS: Right[] = ["read", "write", "admin"];
const QUOTA_MAX = 4_294_967_295;

/** The content of the form, as the user typed it. */
interface Written {
  name: string;
  spaces: string;
  rights: Right[];
  expires: string;
  perMinute: string;
  perDay: string;
}

const NOTHING: Written = { name: "", spaces: "", rights: ["read"], expires: "", perMinute: "", perDay: "" };

/** Returns the request body that creates the key. */
function bodyOf(it: Written): NewApiKey {
  const spaces = it.spaces.split(",").map((name) => name.trim());
  const body: NewApiKey = { name: it.name.trim(), spaces: spaces.filter(Boolean), rights: it.rights };
  const expires = moment(it.expires);
  if (expires) body.expires_at = expires;
  body.quotas = {};
  if (it.perMinute) body.quotas.requests_per_minute = Number(it.perMinute);
  if (it.perDay) body.quotas.records_per_day = Number(it.perDay);
  return body;
}

/** A form that creates a key and passes its token to `onMade`. */
export function NewKey({ onMade }: { onMade: (made: ApiKeyToken) => void }) {
  const [it, setIt] = useState(NOTHING);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const set = (part: Partial<Written>) => setIt({ ...it, ...part });
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      onMade(await call<ApiKeyToken>("/v1/keys", { method: "POST", body: bodyOf(it) }));
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  return (
    <details>
      <summary>{t.keys.make}</summary>
      <form onSubmit={submit}>
        <div class="row">
          <Field label={t.keys.name} value={it.name} onValue={(name) => set({ name })} hint={t.keys.nameHint} required />
          <Field label={t.keys.spaces} value={it.spaces} onValue={(spaces) => set({ spaces })} hint={t.keys.spacesHint} required />
          <Moment label={t.keys.expires} value={it.expires} onValue={(expires) => set({ expires })} hint={t.keys.expiresHint} />
        </div>
        <Rights chosen={it.rights} onChosen={(rights) => set({ rights })} />
        <fieldset class="row">
          <legend>{t.keys.quotas}</legend>
          <Quota label={t.keys.perMinute} value={it.perMinute} onValue={(perMinute) => set({ perMinute })} />
          <Quota label={t.keys.perDay} value={it.perDay} onValue={(perDay) => set({ perDay })} />
        </fieldset>
        {it.rights.length === 0 && <p class="hint">{t.keys.noRight}</p>}
        <p class="actions">
          <button type="submit" class="primary" disabled={busy || it.rights.length === 0}>
            {busy ? t.act.busy : t.keys.create}
          </button>
        </p>
        {failure && <Trouble failure={failure} />}
      </form>
    </details>
  );
}

/** The rights that can be chosen: a user cannot give a right that the user's own key lacks. */
function Rights({ chosen, onChosen }: { chosen: Right[]; onChosen: (rights: Right[]) => void }) {
  return (
    <fieldset class="row">
      <legend>{t.operations.rights}</legend>
      {RIGHTS.filter(may).map((right) => (
        <Check
          key={right}
          label={t.keys.rights[right]}
          checked={chosen.includes(right)}
          onChecked={(on) => onChosen(RIGHTS.filter((it) => (it === right ? on : chosen.includes(it))))}
        />
      ))}
    </fieldset>
  );
}

interface QuotaProps {
  label: string;
  value: string;
  onValue: (value: string) => void;
}

function Quota(props: QuotaProps) {
  return <Field {...props} type="number" min={1} max={QUOTA_MAX} hint={t.keys.noBound} />;
}
