import { useState } from "preact/hooks";
import { whole } from "../lib/format";
import { t } from "../strings";
import { Field } from "../ui/field";

interface Props {
  /** Number of spaces that the list shows. */
  most: number;
  /** Called with the name that the user typed. */
  onOpen: (space: string) => void;
}

/** A notice that a list shows only the first spaces, with a form that opens another space by its name. */
export function MoreSpaces({ most, onOpen }: Props) {
  const [name, setName] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim()) onOpen(name.trim());
  };
  return (
    <>
      <p class="notice">{t.spaces.cutOff(whole(most))}</p>
      <form class="row" onSubmit={submit}>
        <Field label={t.spaces.byName} value={name} onValue={setName} required />
        <button type="submit">{t.spaces.open}</button>
      </form>
    </>
  );
}
