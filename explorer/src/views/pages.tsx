import { useState } from "preact/hooks";
import { call, inSpace, readWhole } from "../api/client";
import type { MemoryPage, PageHead } from "../api/types";
import { day } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Check, Field } from "../ui/field";
import { Badge, Card, CutNotice, Empty, Heading, Shown, Words } from "../ui/parts";
import type { ViewProps } from ".";

const PAGES_READ = 20_000;
/** Pages per dimension that are shown until the user filters. */
const SHOWN = 60;
const DIMENSIONS = ["figure", "topic", "place", "preference", "event"] as const;

export function Pages({ space, id }: ViewProps) {
  return id ? <PageView key={id} space={space} id={id} /> : <PageList space={space} />;
}

function PageList({ space }: { space: string }) {
  const [text, setText] = useState("");
  const [archived, setArchived] = useState(false);
  const pages = useLoaded(
    async (signal) => {
      const { items, all } = await readWhole<PageHead>(inSpace(space, "pages"), { archived }, PAGES_READ, signal);
      return { items: items.toSorted((a, b) => (a.title < b.title ? -1 : 1)), all };
    },
    [space, archived],
  );
  const fits = (it: PageHead) => `${it.title} ${it.aliases.join(" ")}`.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <>
      <Heading title={t.pages.title} hint={t.pages.hint} />
      <div class="row">
        <Field label={t.filter} type="search" value={text} onValue={setText} />
        <Check label={t.pages.archived} checked={archived} onChecked={setArchived} />
      </div>
      <Shown from={pages}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.pages.empty}>
              <p>{t.pages.emptyHint}</p>
            </Empty>
          ) : (
            <>
              <CutNotice all={all} most={PAGES_READ} />
              {DIMENSIONS.map((dimension) => {
                const of = items.filter((it) => it.dimension === dimension && fits(it));
                return of.length > 0 && <Dimension key={dimension} space={space} name={t.pages.dimensions[dimension]} pages={of} />;
              })}
            </>
          )
        }
      </Shown>
    </>
  );
}

function Dimension({ space, name, pages }: { space: string; name: string; pages: PageHead[] }) {
  return (
    <Card title={`${name} (${pages.length})`}>
      <ul class="plain">
        {pages.slice(0, SHOWN).map((it) => (
          <li key={it.id}>
            <a href={link(space, "pages", it.id)}>
              <Words text={it.title} most={120} />
            </a>{" "}
            {it.status === "archived" && <Badge kind="warn">{t.pages.isArchived}</Badge>}
            <span class="hint">
              <Words text={it.summary} most={300} />
            </span>
          </li>
        ))}
      </ul>
      {pages.length > SHOWN && <p class="hint">{t.pages.moreByFilter(pages.length - SHOWN)}</p>}
    </Card>
  );
}

function PageView({ space, id }: { space: string; id: string }) {
  const page = useLoaded((signal) => call<MemoryPage>(inSpace(space, "pages", id), { signal }), [space, id]);
  return (
    <>
      <p>
        <a href={link(space, "pages")}>{t.pages.back}</a>
      </p>
      <Shown from={page}>
        {(it) => (
          <>
            <h1>
              <Words text={it.title} most={200} />
            </h1>
            <p>
              <Words text={it.summary} most={2000} />
            </p>
            <p>
              <Badge>{t.pages.dimensions[it.dimension]}</Badge>
              {(it.tags ?? []).map((tag) => (
                <Badge key={tag}>
                  <bdi>{tag}</bdi>
                </Badge>
              ))}
              <span class="hint"> {t.pages.updated(day(it.updated_at))}</span>
            </p>
            {it.sections.map((section, at) => (
              <Section key={at} space={space} section={section} />
            ))}
            <Links space={space} page={it} />
          </>
        )}
      </Shown>
    </>
  );
}

function Section({ space, section }: { space: string; section: MemoryPage["sections"][number] }) {
  return (
    <Card title={section.title}>
      <ul class="plain">
        {section.lines.map((line, at) => (
          <li key={at}>
            <span class="hint">{day(line.observed_at)}</span>{" "}
            {line.fact ? (
              <a href={link(space, "facts", line.fact)} class={line.until ? "past" : ""}>
                <Words text={line.text} most={600} />
              </a>
            ) : (
              <Words text={line.text} most={600} />
            )}
          </li>
        ))}
      </ul>
      {Boolean(section.left_out) && <p class="hint">{t.pages.leftOut(section.left_out ?? 0)}</p>}
    </Card>
  );
}

function Links({ space, page }: { space: string; page: MemoryPage }) {
  if (page.links.length === 0) return null;
  return (
    <Card title={t.pages.links}>
      <ul class="plain">
        {page.links.map((it) => (
          <li key={`${it.kind}${it.page}`}>
            <Badge>{it.kind.replaceAll("_", " ")}</Badge>
            <a href={link(space, "pages", it.page)}>
              <Words text={it.title} most={120} />
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
