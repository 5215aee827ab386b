import { useEffect, useState } from "preact/hooks";
import { type Progressing, ask } from "../api/question";
import { revision } from "../api/session";
import type { QueryRequest } from "../api/types";
import { moment } from "../lib/format";
import { type Loaded, useLoaded } from "../lib/load";
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
  const other = { ...now, tokens: now.otherTokens, asOf: now.otherAsOf };
  const [turn, setTurn] = useState(0);
  // Every question gets a new result, so that no answer is shown under another question.
  const keyOf = (asked: Asked) => `${turn} ${JSON.stringify(requestOf(asked))}`;
  return (
    <>
      <Heading title={t.ask.title} hint={t.ask.hint} />
      <Form key={route.value.params.toString()} space={space} start={now} onSame={() => setTurn(turn + 1)} />
      {now.question ? (
        <div class={now.compare ? "side-by-side" : ""}>
          <Result key={`first ${keyOf(now)}`} title={now.compare ? t.ask.first : ""} space={space} asked={now} />
          {now.compare && <Result key={`second ${keyOf(other)}`} title={t.ask.second} space={space} asked={other} />}
        </div>
      ) : (
        <Empty title={t.ask.start}>
          <p>{t.ask.startHint}</p>
        </Empty>
      )}
    </>
  );
}

/**
 * Asks a question once, because an answer may cost calls of a language model. The question is asked again only if the user wants
 * it, or if it costs no calls, the server could not be reached, and the server is back.
 */
function useAnswer(space: string, body: QueryRequest): { asking: Loaded<Progressing>; askAgain: () => void } {
  const [attempt, setAttempt] = useState(0);
  const askAgain = () => setAttempt((it) => it + 1);
  const asking = useLoaded<Progressing>((signal, show) => ask(space, body, signal, show), [], attempt);
  useEffect(() => {
    if (!asking.loading && asking.failure?.unreachable) askAgain();
  }, [revision.value]);
  return { asking: asking.loading ? { ...asking, failure: undefined } : asking, askAgain };
}

function Result({ title, space, asked }: { title: string; space: string; asked: Asked }) {
  const { asking, askAgain } = useAnswer(space, requestOf(asked));
  return (
    <section class="result" aria-busy={asking.loading}>
      {title && <h2>{title}</h2>}
      <Shown from={asking} onRetry={askAgain}>
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
