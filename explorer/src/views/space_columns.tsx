import type { Space } from "../api/types";
import { whole } from "../lib/format";
import { link } from "../lib/route";
import { t } from "../strings";

/** The header cells of the first columns in every table of spaces. */
export function SpaceHeads() {
  return (
    <>
      <th scope="col">{t.space}</th>
      <th scope="col" class="number">
        {t.spaces.records}
      </th>
      <th scope="col" class="number">
        {t.spaces.units}
      </th>
    </>
  );
}

/** The cells of a space in those columns. */
export function SpaceCells({ space }: { space: Space }) {
  return (
    <>
      <th scope="row">
        <a href={link(space.space, "ask")}>{space.space}</a>
      </th>
      <td class="number">{whole(space.records)}</td>
      <td class="number">{whole(space.units)}</td>
    </>
  );
}
