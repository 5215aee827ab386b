import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Failure } from "../api/client";
import { readAgain } from "../api/session";
import { whole } from "../lib/format";
import type { Loaded } from "../lib/load";
import { NO_SPACE, link } from "../lib/route";
import { t } from "../strings";

interface Children {
  children?: ComponentChildren;
}

/** A title with the available actions next to it. */
export function Heading({ title, hint, children }: Children & { title: string; hint?: string }) {
  return (
    <header class="heading">
      <div>
        <h1>{title}</h1>
        {hint && <p class="hint">{hint}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

export function Card({ title, children, ...rest }: Children & { title?: string; class?: string; id?: string }) {
  return (
    <section {...rest} class={`card ${rest.class ?? ""}`}>
      {title && <h2>{title}</h2>}
      {children}
    </section>
  );
}

interface TroubleProps {
  failure: Failure;
  /** Repeats the failed action; without it, the views load their data again. */
  onRetry?: () => void;
}

/** An error in the words of the server, with a button to try again. */
export function Trouble({ failure, onRetry = readAgain }: TroubleProps) {
  if (failure.deadLetter) return <GivenUp failure={failure} />;
  const title = failure.unreachable ? t.trouble.unreachable : failure.title || t.trouble.unknown;
  const detail = failure.unreachable ? t.trouble.unreachableHint : failure.detail;
  return (
    <div class="trouble" role="alert">
      <strong>{title}</strong>
      {detail && <p>{detail}</p>}
      <button type="button" onClick={onRetry}>
        {t.retry}
      </button>
    </div>
  );
}

/** A write that the server accepted and could not make. Only a replay of its dead letter helps, so there is no other button. */
function GivenUp({ failure }: { failure: Failure }) {
  return (
    <div class="trouble" role="alert">
      <strong>{t.trouble.givenUp}</strong>
      <p>{failure.detail}</p>
      <p>
        {t.trouble.givenUpHint} <a href={link(NO_SPACE, "operations")}>{t.trouble.openLetters}</a>
      </p>
    </div>
  );
}

export function Busy({ label = t.loading }: { label?: string }) {
  return (
    <p class="busy" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </p>
  );
}

export function Empty({ title, children }: Children & { title: string }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Shows the loaded data, a loading note, or the reason of a failure. */
export function Shown<Value>({
  from,
  onRetry,
  children,
}: Pick<TroubleProps, "onRetry"> & {
  from: Loaded<Value>;
  children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      {from.failure && <Trouble failure={from.failure} onRetry={onRetry} />}
      {from.value === undefined && from.loading && <Busy />}
      {from.value !== undefined && children(from.value)}
    </>
  );
}

interface PagedProps<Item> {
  items: Item[];
  /** Number of items that are shown at first, and that are added each time. */
  step: number;
  children: (items: Item[]) => ComponentChildren;
}

/** Shows the first items of a long list, and more of them when the user asks. */
export function PagedList<Item>({ items, step, children }: PagedProps<Item>) {
  const [most, setMost] = useState(step);
  return (
    <>
      {children(items.slice(0, most))}
      {items.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + step)}>
          {t.more}
        </button>
      )}
    </>
  );
}

/** A notice that a list was read up to `most` items only; nothing if the list is complete. */
export function CutNotice({ all, most }: { all: boolean; most: number }) {
  return all ? null : <p class="notice">{t.cutOff(whole(most))}</p>;
}

export function Badge({ kind = "", children }: Children & { kind?: string }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

/** Names and values, one pair per row; pairs without a value are omitted. */
export function Pairs({ rows }: { rows: { name: string; value: ComponentChildren }[] }) {
  const given = rows.filter((row) => row.value !== undefined && row.value !== "" && row.value !== null);
  return (
    <dl class="pairs">
      {given.map((row) => (
        <div key={row.name}>
          <dt>{row.name}</dt>
          <dd>{row.value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A text of the memory: shown unchanged with its line breaks, never as markup, and truncated if it is very long. */
export function Words({ text, most = 4000 }: { text: string; most?: number }) {
  if (text.length <= most) return <bdi class="words">{text}</bdi>;
  return (
    <bdi class="words">
      {text.slice(0, most)}
      <span class="hint"> {t.cut(text.length - most)}</span>
    </bdi>
  );
}
