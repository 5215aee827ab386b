import { inSpace, readList } from "../api/client";
import { may } from "../api/session";
import type { Curation as Curated, Merge } from "../api/types";
import { fixed, minute } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Act } from "../ui/act";
import { Badge, Card, Empty, Heading, Shown, Words } from "../ui/parts";
import type { ViewProps } from ".";

const READ = 2000;

function useAll<Item>(space: string, list: string) {
  return useLoaded<Item[]>(
    async (signal) => {
      let all: Item[] = [];
      await readList<Item>(inSpace(space, list), {}, READ, signal, (items) => {
        all = items;
      });
      return all;
    },
    [space, list],
  );
}

export function Curation({ space }: ViewProps) {
  return (
    <>
      <Heading title={t.curation.title} hint={t.curation.hint} />
      <AuditLog space={space} />
      <Merges space={space} />
    </>
  );
}

function AuditLog({ space }: { space: string }) {
  const acts = useAll<Curated>(space, "curations");
  return (
    <Card title={t.curation.log}>
      <Shown from={acts}>
        {(all) => {
          const undone = new Set(all.flatMap((it) => (it.act.kind === "undo" ? [it.act.curation] : [])));
          const sorted = all.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? -1 : 1));
          return sorted.length === 0 ? (
            <p class="hint">{t.curation.noActs}</p>
          ) : (
            <ul class="plain">
              {sorted.map((it) => (
                <ActLine key={it.id} space={space} it={it} undone={undone.has(it.id)} />
              ))}
            </ul>
          );
        }}
      </Shown>
    </Card>
  );
}

function ActLine({ space, it, undone }: { space: string; it: Curated; undone: boolean }) {
  const { act } = it;
  const final = act.kind === "erase_record" || act.kind === "undo";
  return (
    <li class="actions">
      <span>
        <span class="hint">{minute(it.at)}</span> <Badge>{t.curation.kinds[act.kind]}</Badge>
        {"fact" in act && <a href={link(space, "facts", act.fact)}>{t.facts.one}</a>}{" "}
        {"object" in act && <Words text={act.object} most={200} />} {it.reason && <Words text={it.reason} most={300} />}{" "}
        {it.by && <span class="hint">{t.curation.by(it.by)}</span>} {undone && <Badge kind="warn">{t.curation.undone}</Badge>}
      </span>
      {may("write") && !final && !undone && (
        <Act space={space} label={t.act.undo} act={{ kind: "undo", curation: it.id }} />
      )}
    </li>
  );
}

function Merges({ space }: { space: string }) {
  const merges = useAll<Merge>(space, "merges");
  return (
    <Card title={t.curation.merges}>
      <p class="hint">{t.curation.mergesHint}</p>
      <Shown from={merges}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={t.curation.noMerges} />
          ) : (
            <ul class="plain">
              {all.map((it) => (
                <li key={it.id} class="actions">
                  <span>
                    <Badge>{it.of}</Badge>
                    <Words text={it.names.join(" = ")} most={300} /> <span class="hint">{it.reason}</span>{" "}
                    <span class="hint">{t.curation.similarity(fixed(it.similarity))}</span>{" "}
                    {it.undone && <Badge kind="warn">{t.curation.undone}</Badge>}
                  </span>
                  {may("write") && !it.undone && (
                    <Act space={space} label={t.curation.undoMerge} act={{ kind: "undo_merge", merge: it.id }} />
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </Card>
  );
}
