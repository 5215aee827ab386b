import { useState } from "preact/hooks";
import { keyRefused, takeKey } from "../api/session";
import { t } from "../strings";
import { Field } from "../ui/field";

export function SignIn() {
  const [text, setText] = useState("");
  const [malformed, setMalformed] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (text.trim()) setMalformed(!takeKey(text));
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1>
          <span aria-hidden="true" class="mark" />
          Mnemic
        </h1>
        <p>{t.signIn.why}</p>
        {(malformed || keyRefused.value) && (
          <p class="trouble" role="alert">
            {malformed ? t.signIn.malformed : t.signIn.refused}
          </p>
        )}
        <Field label={t.signIn.key} type="password" value={text} onValue={setText} required hint={t.signIn.kept} />
        <button type="submit" class="primary">
          {t.signIn.submit}
        </button>
      </form>
    </main>
  );
}
