import { call, inSpace, readList } from "../../api/client";
import { may } from "../../api/session";
import type { Record, Unit } from "../../api/types";
import { minute } from "../../lib/format";
import { useLoaded } from "../../lib/load";
import { link } from "../../lib/route";
import { t } from "../../strings";
import { Act } from "../../ui/act";
import { Badge, Card, Pairs, Shown, Words } from "../../ui/parts";
import { Surroundings } from "../../ui/surroundings";
import { Tags } from "../../ui/tags";

/** Maximum number of units of a session that are searched for the units of a record. */
const UNITS_READ = 10_000;

interface Opened {
  record: Record;
  units: Unit[];
}

async function read(space: string, id: string, signal: AbortSignal): Promise<Opened> {
  const record = await call<Record>(inSpace(space, "records", id), { signal });
  let units: Unit[] = [];
  await readList<Unit>(inSpace(space, "units"), { session: record.session }, UNITS_READ, signal, (all) => {
    units = all.filter((it) => it.records.includes(record.record));
  });
  return { record, units };
}

/** A record word for word, with the units derived from it. */
export function RecordPanel({ space, id }: { space: string; id: string }) {
  const opened = useLoaded((signal) => read(space, id, signal), [space, id]);
  return (
    <Card class="panel">
      <div class="heading">
        <h2>
          {t.record.title} <bdi>{opened.value?.record.id ?? id}</bdi>
        </h2>
        <a href={link(space, "timeline")}>{t.close}</a>
      </div>
      <Shown from={opened}>
        {({ record, units }) => (
          <>
            <Content it={record} space={space} />
            <h3>{t.record.units}</h3>
            {units.map((unit) => (
              <UnitPart key={unit.id} space={space} unit={unit} />
            ))}
            {units.length === 0 && <p class="hint">{t.record.noUnits}</p>}
            {units[0] && <Surroundings space={space} unit={(units.find((it) => it.grain === "turn") ?? units[0]).id} />}
            {may("admin") && (
              <p>
                <a href={link(space, "erasure", "", { record: record.id })}>{t.record.erase}</a>
              </p>
            )}
          </>
        )}
      </Shown>
    </Card>
  );
}

function Content({ it, space }: { it: Record; space: string }) {
  const tags = it.tags ?? [];
  const metadata = Object.entries(it.metadata).map(([name, value]) => ({ name, value: <Words text={value} most={400} /> }));
  return (
    <>
      {it.text && (
        <blockquote>
          <Words text={it.text} most={20_000} />
        </blockquote>
      )}
      <Pairs
        rows={[
          { name: t.timeline.actor, value: <Words text={it.actor} /> },
          { name: t.record.observed, value: minute(it.observed_at) },
          {
            name: t.timeline.session,
            value: (
              <a href={link(space, "timeline", "", { session: it.session })}>
                <bdi>{it.session}</bdi>
              </a>
            ),
          },
          { name: t.timeline.kind, value: t.modalities[it.modality] },
          {
            name: t.tags.title,
            value: tags.length > 0 && <Tags tags={tags} to={(tag) => link(space, "timeline", "", { tag })} />,
          },
          { name: t.record.caption, value: it.image_caption && <Words text={it.image_caption} /> },
          { name: t.record.image, value: it.image_uri && <Words text={it.image_uri} /> },
          ...metadata,
        ]}
      />
      {it.tool && (
        <>
          <h3>
            {t.record.tool} <Words text={it.tool.name} />
          </h3>
          <pre>{it.tool.arguments}</pre>
          <pre>{it.tool.result}</pre>
        </>
      )}
    </>
  );
}

function UnitPart({ space, unit }: { space: string; unit: Unit }) {
  return (
    <div class="unit">
      <Badge>{t.grains[unit.grain]}</Badge>
      {unit.tag && (
        <Badge>
          <Words text={unit.tag} most={60} />
        </Badge>
      )}
      {unit.status && unit.status !== "active" && <Badge kind="warn">{unit.status}</Badge>}
      <Words text={unit.summary || unit.text} most={1500} />
      {may("write") && (
        <p class="actions">
          <Act space={space} label={t.explain.pin} act={{ kind: "pin_unit", unit: unit.id }} />
          <Act space={space} label={t.explain.forget} act={{ kind: "forget_unit", unit: unit.id }} />
        </p>
      )}
    </div>
  );
}
