import { inSpace, readWhole } from "../api/client";
import { may } from "../api/session";
import type { Curation as Curated, Merge } from "../api/types";
import { fixed, minute } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Act } from "../ui/act";
import { Badge, Card, CutNotice, Empty, Heading, PagedList, Shown, Words } from "../ui/parts";
import type { ViewProps } from ".";

/** Maximum number of entries of a list that are read, and number of entries that are shown until the user asks for more. */
const READ = 20_000;
const LISTED = 100;

function useWhole<Item>(space: string, list: string) {
  return useLoaded((signal) => readWhole<Item>(inSpace(space, list), {}, READ, signal), [space, list]);
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
  const acts = useWhole<Curated>(space, "curations");
  return (
    <Card title={t.curation.log}>
      <Shown from={acts}>
        {({ items, all }) => {
          const undone = new Set(items.flatMap((it) => (it.act.kind === "undo" ? [it.act.curation] : [])));
          const sorted = items.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || (a.id < b.id ? -1 : 1));
          return sorted.length === 0 ? (
            <p class="hint">{t.curation.noActs}</p>
          ) : (
            <>
              <CutNotice all={all} most={READ} />
              <PagedList items={sorted} step={LISTED}>
                {(some) => (
                  <ul class="plain">
                    {some.map((it) => (
                      <ActLine key={it.id} space={space} it={it} undone={undone.has(it.id)} />
                    ))}
                  </ul>
                )}
              </PagedList>
            </>
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
  const merges = useWhole<Merge>(space, "merges");
  return (
    <Card title={t.curation.merges}>
      <p class="hint">{t.curation.mergesHint}</p>
      <Shown from={merges}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.curation.noMerges} />
          ) : (
            <>
              <CutNotice all={all} most={READ} />
              <PagedList items={items} step={LISTED}>
                {(some) => (
                  <ul class="plain">
                    {some.map((it) => (
                      <MergeLine key={it.id} space={space} it={it} />
                    ))}
                  </ul>
                )}
              </PagedList>
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function MergeLine({ space, it }: { space: string; it: Merge }) {
  return (
    <li class="actions">
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
  );
}
