import { call, inSpace, readWhole } from "../api/client";
import type { Topic, TopicView } from "../api/types";
import { day, whole } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Badge, Card, CutNotice, Empty, Heading, PagedList, Shown, Words } from "../ui/parts";
import type { ViewProps } from ".";

/** Maximum number of topics that are read, and number of topics that are shown until the user asks for more. */
const TOPICS_READ = 20_000;
const LISTED = 100;

export function Topics({ space, id }: ViewProps) {
  const topics = useLoaded(
    async (signal) => {
      const { items, all } = await readWhole<Topic>(inSpace(space, "topics"), {}, TOPICS_READ, signal);
      return { items: items.toSorted((a, b) => b.units - a.units || (a.id < b.id ? -1 : 1)), all };
    },
    [space],
  );
  return (
    <>
      <Heading title={t.topics.title} hint={t.topics.hint} />
      {id && <TopicPanel key={id} space={space} id={id} />}
      <Shown from={topics}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.topics.empty}>
              <p>{t.topics.emptyHint}</p>
            </Empty>
          ) : (
            <>
              <CutNotice all={all} most={TOPICS_READ} />
              <PagedList items={items} step={LISTED}>
                {(some) => (
                  <ul class="plain tiles">
                    {some.map((it) => (
                      <TopicTile key={it.id} space={space} it={it} isOpen={it.id === id} />
                    ))}
                  </ul>
                )}
              </PagedList>
            </>
          )
        }
      </Shown>
    </>
  );
}

function TopicTile({ space, it, isOpen }: { space: string; it: Topic; isOpen: boolean }) {
  return (
    <li class={`card ${isOpen ? "panel" : ""}`}>
      <h2>
        <a href={link(space, "topics", it.id)}>
          <Words text={it.label || t.topics.noLabel} most={120} />
        </a>
      </h2>
      <p class="hint">
        {t.topics.size(whole(it.units))} · {t.topics.seen(day(it.first_seen), day(it.last_seen))}
      </p>
      <p>
        {it.keywords.map((word) => (
          <Badge key={word}>
            <bdi>{word}</bdi>
          </Badge>
        ))}
      </p>
    </li>
  );
}

function TopicPanel({ space, id }: { space: string; id: string }) {
  const topic = useLoaded((signal) => call<TopicView>(inSpace(space, "topics", id), { signal }), [space, id]);
  return (
    <Card class="panel">
      <Shown from={topic}>
        {(it) => (
          <>
            <div class="heading">
              <h2>
                <Words text={it.topic.label || t.topics.noLabel} most={200} />
              </h2>
              <a href={link(space, "topics")}>{t.close}</a>
            </div>
            <ul class="plain">
              {it.members.map(({ unit }) => (
                <li key={unit.id}>
                  <a href={link(space, "timeline", unit.external_ids[0] ?? "")}>{day(unit.observed_at)}</a>{" "}
                  <Words text={unit.text} most={600} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Shown>
    </Card>
  );
}
