import { call, inSpace, readList } from "../api/client";
import type { Topic, TopicView } from "../api/types";
import { day, whole } from "../lib/format";
import { useLoaded } from "../lib/load";
import { link } from "../lib/route";
import { t } from "../strings";
import { Badge, Card, Empty, Heading, Shown, Words } from "../ui/parts";
import type { ViewProps } from ".";

const TOPICS_READ = 1000;

export function Topics({ space, id }: ViewProps) {
  const topics = useLoaded<Topic[]>(
    async (signal) => {
      let all: Topic[] = [];
      await readList<Topic>(inSpace(space, "topics"), {}, TOPICS_READ, signal, (items) => {
        all = items;
      });
      return all.toSorted((a, b) => b.units - a.units || (a.id < b.id ? -1 : 1));
    },
    [space],
  );
  return (
    <>
      <Heading title={t.topics.title} hint={t.topics.hint} />
      {id && <TopicPanel key={id} space={space} id={id} />}
      <Shown from={topics}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={t.topics.empty}>
              <p>{t.topics.emptyHint}</p>
            </Empty>
          ) : (
            <ul class="plain tiles">
              {all.map((it) => (
                <li key={it.id} class={`card ${it.id === id ? "panel" : ""}`}>
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
              ))}
            </ul>
          )
        }
      </Shown>
    </>
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
