import { useRef, useState } from "preact/hooks";
import { readList } from "../../api/client";
import { readAgain } from "../../api/session";
import type { ApiKey, ApiKeyToken } from "../../api/types";
import { whole } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { t } from "../../strings";
import { Field } from "../../ui/field";
import { Card, Empty, Shown } from "../../ui/parts";
import { Entry } from "./keys/entry";
import { NewKey } from "./keys/form";
import { Token } from "./keys/token";

/**
 * Most keys that are read, keys that are shown until the user asks for more, and the number of keys from which a filter is
 * offered.
 */
const KEYS_READ = 2_000;
const LISTED = 20;
const FILTER_FROM = 8;

interface Content {
  keys: ApiKey[];
  all: boolean;
}

async function read(signal: AbortSignal): Promise<Content> {
  let keys: ApiKey[] = [];
  const all = await readList<ApiKey>("/v1/keys", {}, KEYS_READ, signal, (items) => {
    keys = items;
  });
  return { keys, all };
}

/** The keys in the store of the server, with their spaces and times of use; creates, rotates and revokes keys. */
export function Keys() {
  const content = useLoaded<Content>(read, []);
  const [made, setMade] = useState<ApiKeyToken>();
  const place = useRef<HTMLDivElement>(null);
  const onToken = (token: ApiKeyToken) => {
    setMade(token);
    readAgain();
  };
  const onStored = () => {
    setMade(undefined);
    place.current?.focus();
  };
  return (
    <Card title={t.keys.title}>
      <div ref={place} tabIndex={-1} role="group" aria-label={t.keys.title}>
        <p class="hint">{t.keys.hint}</p>
        {made ? <Token made={made} onStored={onStored} /> : <NewKey onMade={onToken} />}
        <Shown from={content}>
          {({ keys, all }) => (
            <>
              {keys.length === 0 ? <Empty title={t.keys.none} /> : <KeyList keys={keys} waiting={made !== undefined} onToken={onToken} />}
              {!all && <p class="hint">{t.keys.cutOff(whole(KEYS_READ))}</p>}
            </>
          )}
        </Shown>
      </div>
    </Card>
  );
}

interface ListProps {
  keys: ApiKey[];
  waiting: boolean;
  onToken: (made: ApiKeyToken) => void;
}

function KeyList({ keys, waiting, onToken }: ListProps) {
  const [filter, setFilter] = useState("");
  const [most, setMost] = useState(LISTED);
  const fitting = keys.filter((it) => it.name.includes(filter.trim()));
  return (
    <>
      {keys.length > FILTER_FROM && <Field label={t.filter} type="search" value={filter} onValue={setFilter} />}
      {fitting.length === 0 && <p class="hint">{t.keys.noneFits}</p>}
      {fitting.slice(0, most).map((it) => (
        <Entry key={it.name} it={it} waiting={waiting} onToken={onToken} />
      ))}
      {fitting.length > most && (
        <button type="button" class="quiet" onClick={() => setMost(most + LISTED)}>
          {t.more}
        </button>
      )}
    </>
  );
}
