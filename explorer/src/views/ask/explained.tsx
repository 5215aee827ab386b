import type { UnitExplanation } from "../../api/types";
import { featureLabel } from "../../lib/features";
import { fixed } from "../../lib/format";
import { link } from "../../lib/route";
import { t } from "../../strings";
import { Badge, Pairs } from "../../ui/parts";
import { Surroundings } from "../../ui/surroundings";

interface Props {
  space: string;
  unit: string;
  explanation: UnitExplanation | undefined;
  records: string[];
  asOf: string;
}

/** The reason why a unit is in the pack or not, and its surroundings in the memory. */
export function Explained({ space, unit, explanation, records, asOf }: Props) {
  return (
    <div class="explained">
      {explanation ? <Reasons it={explanation} /> : <p class="hint">{t.explain.notExplained}</p>}
      <h3>{t.explain.records}</h3>
      <p class="tags">
        {records.map((id) => (
          <a key={id} href={link(space, "timeline", id)}>
            <bdi>{id}</bdi>
          </a>
        ))}
      </p>
      <Surroundings space={space} unit={unit} asOf={asOf} />
    </div>
  );
}

function Reasons({ it }: { it: UnitExplanation }) {
  return (
    <>
      <p>{it.reason}</p>
      <Pairs
        rows={[
          { name: t.explain.rank, value: String(it.rank) },
          { name: t.explain.price, value: t.explain.tokens(it.price) },
          {
            name: t.explain.channels,
            value: it.channels.map((channel) => <Badge key={channel}>{t.channels[channel]}</Badge>),
          },
        ]}
      />
      <h3>{t.explain.features}</h3>
      <Moves it={it} />
    </>
  );
}

/** The amount that each feature added to the score or subtracted from it. */
function Moves({ it }: { it: UnitExplanation }) {
  const most = Math.max(0.01, ...it.features.map((feature) => Math.abs(feature.moved)));
  return (
    <ul class="moves">
      {it.features.map((feature) => (
        <li key={feature.name}>
          <span>{featureLabel(feature.name)}</span>
          <span class="bar" aria-hidden="true">
            <span
              class={feature.moved < 0 ? "against" : "for"}
              style={{ width: `${(Math.abs(feature.moved) / most) * 100}%` }}
            />
          </span>
          <span class="number">
            {feature.moved > 0 ? "+" : ""}
            {fixed(feature.moved)}
          </span>
        </li>
      ))}
    </ul>
  );
}
