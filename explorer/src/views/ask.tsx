import { useState } from "preact/hooks";
import { call, inSpace } from "../api/client";
import type { QueryRequest, QueryResponse, Strategy } from "../api/types";
import { moment } from "../lib/format";
import { useLoaded } from "../lib/load";
import { go, link, route } from "../lib/route";
import { t } from "../strings";
import { Check, Field, Moment, Prompt, Select } from "../ui/field";
import { Card, Empty, Heading, Shown } from "../ui/parts";
import { Answered } from "./ask/answered";
import type { ViewProps } from ".";

/** Units the server explains, which is the most it allows. */
const EXPLAINED = 100;
const DEFAULT_TOKENS = "512";

/** What is asked, as it stands in the address. */
interface Asked {
  question: string;
  strategy: string;
  tokens: string;
  asOf: string;
  compare: boolean;
  otherTokens: string;
  otherAsOf: string;
}

function asked(params: URLSearchParams): Asked {
  return {
    question: params.get("q") ?? "",
    strategy: params.get("strategy") ?? "route",
    tokens: params.get("tokens") ?? DEFAULT_TOKENS,
    asOf: params.get("as_of") ?? "",
    compare: params.get("compare") === "1",
    otherTokens: params.get("tokens2") ?? "128",
    otherAsOf: params.get("as_of2") ?? "",
  };
}

function address(space: string, it: Asked): string {
  const other = it.compare ? { compare: 1, tokens2: it.otherTokens, as_of2: it.otherAsOf } : {};
  return link(space, "ask", "", { q: it.question, strategy: it.strategy, tokens: it.tokens, as_of: it.asOf, ...other });
}

export function Ask({ space }: ViewProps) {
  const now = asked(route.value.params);
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

function Form({ space, start }: { space: string; start: Asked }) {
  const [it, setIt] = useState(start);
  const set = (part: Partial<Asked>) => setIt({ ...it, ...part });
  const submit = (event: Event) => {
    event.preventDefault();
    if (it.question.trim()) go(address(space, it));
  };
  const strategies = Object.entries(t.ask.strategies).map(([value, label]) => ({ value, label }));
  return (
    <form class="card ask" onSubmit={submit}>
      <Prompt
        label={t.ask.question}
        placeholder={t.ask.placeholder}
        submit={t.ask.submit}
        value={it.question}
        onValue={(question) => set({ question })}
      />
      <div class="row">
        <Tokens value={it.tokens} onValue={(tokens) => set({ tokens })} />
        <Select label={t.ask.strategy} value={it.strategy} onValue={(strategy) => set({ strategy })} options={strategies} />
        <Moment label={t.ask.asOf} value={it.asOf} onValue={(asOf) => set({ asOf })} hint={t.ask.asOfHint} />
      </div>
      <Check label={t.ask.compare} checked={it.compare} onChecked={(compare) => set({ compare })} />
      {it.compare && (
        <fieldset class="row">
          <legend>{t.ask.second}</legend>
          <Tokens value={it.otherTokens} onValue={(otherTokens) => set({ otherTokens })} />
          <Moment label={t.ask.asOf} value={it.otherAsOf} onValue={(otherAsOf) => set({ otherAsOf })} hint={t.ask.asOfHint} />
        </fieldset>
      )}
    </form>
  );
}

function Tokens({ value, onValue }: { value: string; onValue: (value: string) => void }) {
  return <Field label={t.ask.tokens} type="number" min={0} max={32000} value={value} onValue={onValue} required />;
}

function Result({ title, space, asked }: { title: string; space: string; asked: Asked }) {
  const body: QueryRequest = {
    question: asked.question,
    strategy: asked.strategy as Strategy,
    budget: { tokens: Number(asked.tokens) },
    explain: EXPLAINED,
    ranked: EXPLAINED,
  };
  const asOf = moment(asked.asOf);
  if (asOf) body.as_of = asOf;
  const response = useLoaded(
    (signal) => call<QueryResponse>(inSpace(space, "query"), { method: "POST", body, signal }),
    [JSON.stringify(body), space],
  );
  return (
    <section class="result" aria-busy={response.loading}>
      {title && <h2>{title}</h2>}
      <Shown from={response}>{(it) => <Answered space={space} response={it} asOf={asOf} />}</Shown>
      {response.value === undefined && response.failure === undefined && <Card class="placeholder" />}
    </section>
  );
}
