import { useState } from "preact/hooks";
import { Failure, call, inSpace, readWhole } from "../api/client";
import { may, readAgain } from "../api/session";
import type { Space } from "../api/types";
import { day } from "../lib/format";
import { useLoaded } from "../lib/load";
import { go, link } from "../lib/route";
import { t } from "../strings";
import { Field } from "../ui/field";
import { Card, Empty, Heading, Shown, Trouble } from "../ui/parts";
import { MoreSpaces } from "./more_spaces";
import { SpaceCells, SpaceHeads } from "./space_columns";

/** Maximum number of spaces that are shown; a server may have many more. */
const SHOWN = 1000;

export function Spaces() {
  const [filter, setFilter] = useState("");
  const spaces = useLoaded((signal) => readWhole<Space>("/v1/spaces", {}, SHOWN, signal), []);
  return (
    <>
      <Heading title={t.spaces.title} hint={t.spaces.hint} />
      {may("write") && <NewSpace />}
      <Shown from={spaces}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.spaces.empty}>
              <p>{t.spaces.emptyHint}</p>
              <pre>{t.spaces.example(location.origin)}</pre>
            </Empty>
          ) : (
            <>
              {!all && <MoreSpaces most={SHOWN} onOpen={(name) => go(link(name, "ask"))} />}
              {items.length > 8 && <Field label={t.filter} type="search" value={filter} onValue={setFilter} />}
              <SpaceTable spaces={items.filter((it) => it.space.includes(filter.trim()))} />
            </>
          )
        }
      </Shown>
    </>
  );
}

function SpaceTable({ spaces }: { spaces: Space[] }) {
  return (
    <Card class="flush">
      <div class="scroll" tabIndex={0} role="region" aria-label={t.spaces.title}>
        <table>
          <thead>
            <tr>
              <SpaceHeads />
              <th scope="col">{t.spaces.created}</th>
            </tr>
          </thead>
          <tbody>
            {spaces.map((it) => (
              <tr key={it.space}>
                <SpaceCells space={it} />
                <td>{day(it.created_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function NewSpace() {
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<Failure>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setFailure(undefined);
    try {
      await call(inSpace(name.trim()), { method: "PUT" });
      setName("");
      readAgain();
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <form class="row" onSubmit={submit}>
      <Field label={t.spaces.newName} value={name} onValue={setName} required />
      <button type="submit">{t.spaces.create}</button>
      {failure && <Trouble failure={failure} />}
    </form>
  );
}
