import { type Progressing, ask } from "../api/question";
import { moment } from "../lib/format";
import { useLoaded } from "../lib/load";
import { route } from "../lib/route";
import { t } from "../strings";
import { Busy, Card, Empty, Heading, Shown } from "../ui/parts";
import { Answered } from "./ask/answered";
import { type Asked, askedIn, requestOf } from "./ask/asked";
import { Form } from "./ask/form";
import { Steps } from "./ask/steps";
import type { ViewProps } from ".";

export function Ask({ space }: ViewProps) {
  const now = askedIn(route.value.params);
  return (
    <>
      <Heading title={t.ask.title} hint={t.ask.hint} />
      <Form key={route.value.params.toString()} space={space} start={now} />
      {now.question ? (
        <div class={now.compare ? "side-by-side" : ""}>
          <Result title={now.compare ? t.ask.first : ""} space={space} asked={now} />
          {now.compare && (
            <Result title={t.ask.second} space={space} asked={{ ...now, tokens: now.otherTokens, asOf: now.otherAsOf }} />
          )}
        </div>
      ) : (
        <Empty title={t.ask.start}>
          <p>{t.ask.startHint}</p>
        </Empty>
      )}
    </>
  );
}

function Result({ title, space, asked }: { title: string; space: string; asked: Asked }) {
  const body = requestOf(asked);
  const asking = useLoaded<Progressing>((signal, show) => ask(space, body, signal, show), [JSON.stringify(body), space]);
  return (
    <section class="result" aria-busy={asking.loading}>
      {title && <h2>{title}</h2>}
      <Shown from={asking}>
        {({ steps, response }) =>
          response ? (
            <Answered space={space} response={response} steps={steps} asOf={moment(asked.asOf)} />
          ) : (
            <>
              {asking.loading && <Busy label={t.ask.searching} />}
              <Steps steps={steps} />
            </>
          )
        }
      </Shown>
      {asking.value === undefined && asking.failure === undefined && <Card class="placeholder" />}
    </section>
  );
}
