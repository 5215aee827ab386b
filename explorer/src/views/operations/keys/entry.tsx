import type { ComponentChildren } from "preact";
import { useLayoutEffect, useId, useRef, useState } from "preact/hooks";
import { Failure, call } from "../../../api/client";
import { access, readAgain, rotateOwnKey } from "../../../api/session";
import type { ApiKey, ApiKeyToken } from "../../../api/types";
import { serverNow } from "../../../lib/clock";
import { minute, whole } from "../../../lib/format";
import { t } from "../../../strings";
import { Select } from "../../../ui/field";
import { Badge, Pairs, Trouble, Words } from "../../../ui/parts";

/** Seconds for which a token stays valid next to its successor, unless the user chooses another time. */
const GRACE = "300";

type State = keyof typeof t.keys.states;

const COLOURS: { [state in State]: string } = { valid: "good", expired: "warn", revoked: "bad" };

function stateOf(it: ApiKey): State {
  if (it.revoked_at) return "revoked";
  return it.expires_at && Date.parse(it.expires_at) <= serverNow() ? "expired" : "valid";
}

interface Props {
  it: ApiKey;
  /** Whether the page shows a token that the user has not stored yet; a new token would replace it. */
  waiting: boolean;
  onToken: (made: ApiKeyToken) => void;
}

/** A key with its times and the available actions. */
export function Entry({ it, waiting, onToken }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<"rotate" | "revoke">();
  const state = stateOf(it);
  const isOwn = it.name === access.value?.name;
  const close = () => {
    setOpen(undefined);
    place.current?.focus();
  };
  return (
    <div class="receipt" ref={place} tabIndex={-1} role="group" aria-label={it.name}>
      <p>
        <strong>
          <Words text={it.name} />
        </strong>{" "}
        <Badge kind={COLOURS[state]}>{t.keys.states[state]}</Badge>
        {isOwn && <Badge>{t.keys.own}</Badge>}
      </p>
      <Times it={it} />
      {open === "rotate" && <Rotate name={it.name} isOwn={isOwn} onToken={onToken} onClose={close} />}
      {open === "revoke" && <Revoke name={it.name} isOwn={isOwn} onClose={close} />}
      {!open && state !== "revoked" && (
        <p class="actions">
          {state === "valid" && (
            <button type="button" disabled={waiting} aria-label={t.keys.rotateOf(it.name)} onClick={() => setOpen("rotate")}>
              {t.keys.rotate}
            </button>
          )}
          <button type="button" class="danger" aria-label={t.keys.revokeOf(it.name)} onClick={() => setOpen("revoke")}>
            {t.keys.revoke}
          </button>
        </p>
      )}
    </div>
  );
}

function Times({ it }: { it: ApiKey }) {
  const { requests_per_minute: perMinute, records_per_day: perDay } = it.quotas ?? {};
  return (
    <Pairs
      rows={[
        { name: t.spaces.title, value: <Words text={it.spaces.join(", ")} /> },
        { name: t.operations.rights, value: it.rights.map((right) => <Badge key={right}>{t.keys.rights[right]}</Badge>) },
        { name: t.keys.created, value: minute(it.created_at) },
        { name: t.keys.by, value: <Words text={it.by} /> },
        { name: t.keys.expires, value: minute(it.expires_at) || t.keys.never },
        { name: t.keys.lastUsed, value: minute(it.last_used_at) || t.keys.never },
        { name: t.keys.revokedAt, value: minute(it.revoked_at) },
        { name: t.keys.formerUntil, value: minute(it.former_valid_until) },
        { name: t.keys.perMinute, value: perMinute && whole(perMinute) },
        { name: t.keys.perDay, value: perDay && whole(perDay) },
      ]}
    />
  );
}

interface Asking {
  /** A description of the consequences. */
  why: string;
  /** Further fields of the dialogue. */
  children?: ComponentChildren;
  label: string;
  kind: string;
  run: () => Promise<void>;
  onClose: () => void;
}

/** Asks for a confirmation before an action on a key. The initial focus is on "cancel". */
function Confirm({ why, children, label, kind, run, onClose }: Asking) {
  const id = useId();
  const back = useRef<HTMLButtonElement>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  useLayoutEffect(() => back.current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      await run();
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit} aria-label={label}>
      <p id={id}>{why}</p>
      {children}
      <p class="actions">
        <button type="submit" class={kind} disabled={busy}>
          {busy ? t.act.busy : label}
        </button>
        <button type="button" ref={back} aria-describedby={id} onClick={onClose}>
          {t.cancel}
        </button>
      </p>
      {failure && <Trouble failure={failure} />}
    </form>
  );
}

interface Acting {
  name: string;
  /** Whether it is the key that the user is signed in with. */
  isOwn: boolean;
  onClose: () => void;
}

function pathOf(name: string): string {
  return `/v1/keys/${encodeURIComponent(name)}`;
}

function Rotate({ name, isOwn, onToken, onClose }: Acting & Pick<Props, "onToken">) {
  const [grace, setGrace] = useState(GRACE);
  const options = Object.entries(t.keys.graces).map(([value, label]) => ({ value, label }));
  const rotate = async () => {
    const body = { grace_seconds: Number(grace) };
    const send = () => call<ApiKeyToken>(`${pathOf(name)}/rotate`, { method: "POST", body });
    const made = await (isOwn ? rotateOwnKey(send) : send());
    onClose();
    onToken(made);
  };
  const why = isOwn ? `${t.keys.rotateHint} ${t.keys.rotateOwn}` : t.keys.rotateHint;
  return (
    <Confirm why={why} label={t.keys.rotateNow} kind="primary" run={rotate} onClose={onClose}>
      <Select label={t.keys.grace} value={grace} onValue={setGrace} options={options} />
    </Confirm>
  );
}

function Revoke({ name, isOwn, onClose }: Acting) {
  const revoke = async () => {
    await call(pathOf(name), { method: "DELETE" });
    onClose();
    readAgain();
  };
  const why = isOwn ? `${t.keys.revokeHint(name)} ${t.keys.revokeOwn}` : t.keys.revokeHint(name);
  return <Confirm why={why} label={t.keys.revokeNow} kind="danger" run={revoke} onClose={onClose} />;
}
