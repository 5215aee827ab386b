import { useLayoutEffect, useId, useRef, useState } from "preact/hooks";
import type { ApiKeyToken } from "../../../api/types";
import { t } from "../../../strings";

interface Props {
  made: ApiKeyToken;
  onStored: () => void;
}

/** Copies the selected text; this also works over HTTP, where pages have no clipboard API. Returns true if it succeeded. */
async function copySelected(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

/** The token of a new key. It is only in the memory of the page, until the user has stored it. */
export function Token({ made, onStored }: Props) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState<boolean>();
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [made.token]);
  const copy = async () => {
    field.current?.select();
    setCopied(await copySelected(made.token));
  };
  return (
    <div class="notice token">
      <p id={`${id}-why`}>
        <strong>{t.keys.tokenOnce}</strong>
      </p>
      <label for={id}>{t.keys.token(made.key.name)}</label>
      <input id={id} ref={field} type="text" readOnly value={made.token} autocomplete="off" aria-describedby={`${id}-why`} />
      <p class="actions">
        <button type="button" class="primary" onClick={copy}>
          {t.keys.copy}
        </button>
        <button type="button" onClick={onStored}>
          {t.keys.stored}
        </button>
      </p>
      <p role="status">{copied === undefined ? "" : copied ? t.keys.copied : t.keys.notCopied}</p>
    </div>
  );
}
