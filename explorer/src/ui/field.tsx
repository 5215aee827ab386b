import { useId } from "preact/hooks";
import { t } from "../strings";

interface Common {
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: string;
}

type InputType = "text" | "search" | "number" | "datetime-local" | "password";

interface Text extends Common {
  type?: InputType;
  min?: number;
  max?: number;
  placeholder?: string;
  required?: boolean;
  /** Suggested values; the user can type any other value too. */
  suggestions?: string[];
}

export function Field({ label, value, onValue, hint, type = "text", suggestions, ...rest }: Text) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type={type as "text"}
        value={value}
        autocomplete="off"
        list={suggestions ? `${id}-list` : undefined}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onInput={(event) => onValue(event.currentTarget.value)}
        {...rest}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
      )}
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  );
}

/** The main field of a form, next to the button that submits the form. */
export function Prompt({ submit, ...field }: Common & { placeholder: string; submit: string }) {
  return (
    <div class="row">
      <div class="grow">
        <Field {...field} type="search" required />
      </div>
      <button type="submit" class="primary">
        {submit}
      </button>
    </div>
  );
}

interface Choice extends Common {
  options: { value: string; label: string }[];
}

export function Select({ label, value, onValue, options }: Choice) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A moment in UTC, to the minute. */
export function Moment(props: Common) {
  return <Field {...props} type="datetime-local" hint={props.hint ?? t.utc} />;
}

interface Ticked {
  label: string;
  checked: boolean;
  onChecked: (on: boolean) => void;
  /** Colour of the option, if the colour has a meaning. */
  ink?: string;
}

export function Check({ label, checked, onChecked, ink }: Ticked) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        style={ink ? { accentColor: ink } : undefined}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}
