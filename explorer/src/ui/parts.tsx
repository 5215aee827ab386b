import type { ComponentChildren } from "preact";
import type { Failure } from "../api/client";
import { readAgain } from "../api/session";
import type { Loaded } from "../lib/load";
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

/** An error in the words of the server, with a button to try again. */
export function Trouble({ failure }: { failure: Failure }) {
  const title = failure.unreachable ? t.trouble.unreachable : failure.title || t.trouble.unknown;
  const detail = failure.unreachable ? t.trouble.unreachableHint : failure.detail;
  return (
    <div class="trouble" role="alert">
      <strong>{title}</strong>
      {detail && <p>{detail}</p>}
      <button type="button" onClick={readAgain}>
        {t.retry}
      </button>
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
  children,
}: {
  from: Loaded<Value>;
  children: (value: Value) => ComponentChildren;
}) {
  return (
    <>
      {from.failure && <Trouble failure={from.failure} />}
      {from.value === undefined && from.loading && <Busy />}
      {from.value !== undefined && children(from.value)}
    </>
  );
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
