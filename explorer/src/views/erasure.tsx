import { useState } from "preact/hooks";
import { Failure, call, inSpace, readWhole } from "../api/client";
import { may } from "../api/session";
import type { Curated, Erased, Erasure as Receipt, ErasureCheck } from "../api/types";
import { minute, whole } from "../lib/format";
import { useLoaded, useRemovalSignal } from "../lib/load";
import { route } from "../lib/route";
import { t } from "../strings";
import { showChange, written } from "../ui/act";
import { Field, Select } from "../ui/field";
import { Badge, Busy, Card, CutNotice, Empty, Heading, PagedList, Pairs, Shown, Trouble } from "../ui/parts";
import { Preview } from "./erasure/preview";
import type { ViewProps } from ".";

/** Maximum number of receipts that are read, and number of receipts that are shown until the user asks for more. */
const RECEIPTS_READ = 20_000;
const LISTED = 50;

/** The data to erase. */
export interface Target {
  kind: "record" | "session";
  name: string;
}

export function Erasure({ space }: ViewProps) {
  const given = route.value.params.get("record") ?? "";
  return (
    <>
      <Heading title={t.erasure.title} hint={t.erasure.hint} />
      {may("admin") ? <Erase key={given} space={space} given={given} /> : <p class="notice">{t.erasure.needsAdmin}</p>}
      <Receipts space={space} />
    </>
  );
}

/** Shows a preview first, then asks for the name again, then erases. */
function Erase({ space, given }: { space: string; given: string }) {
  const [kind, setKind] = useState<Target["kind"]>("record");
  const [name, setName] = useState(given);
  const [target, setTarget] = useState<Target | undefined>(given ? { kind: "record", name: given } : undefined);
  const kinds = [
    { value: "record", label: t.erasure.record },
    { value: "session", label: t.erasure.session },
  ];
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim()) setTarget({ kind, name: name.trim() });
  };
  return (
    <Card>
      <form class="row" onSubmit={submit}>
        <Select label={t.erasure.what} value={kind} onValue={(value) => setKind(value as Target["kind"])} options={kinds} />
        <Field label={t.erasure.name} value={name} onValue={setName} required />
        <button type="submit">{t.erasure.preview}</button>
      </form>
      {target && <Confirm key={`${target.kind}/${target.name}`} space={space} target={target} />}
    </Card>
  );
}

function Confirm({ space, target }: { space: string; target: Target }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [receipts, setReceipts] = useState<string[]>([]);
  const [accepted, setAccepted] = useState(false);
  const [records, setRecords] = useState(0);
  const [done, setDone] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const removal = useRemovalSignal();
  /** Erases as many records as the server erases at once, and waits until they are erased. Returns true if there are more. */
  const eraseBatch = async () => {
    const erased = await call<Curated | Erased>(inSpace(space, `${target.kind}s`, target.name), { method: "DELETE" });
    const { erasure } = erased;
    setAccepted(true);
    if ("records" in erased) setRecords((before) => before + erased.records);
    await written(space, erased.watermark, removal);
    // A receipt exists only once its erasure is written.
    if (erasure) setReceipts((before) => [...before, erasure]);
    return "more" in erased && erased.more;
  };
  const erase = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    setAccepted(false);
    try {
      let hasMore = true;
      while (hasMore) hasMore = await eraseBatch();
      setDone(true);
      showChange();
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
    setBusy(false);
  };
  if (done) {
    return (
      <p class="notice done" role="status">
        {t.erasure.done(receipts.length)}
        {receipts.map((id) => (
          <span key={id}>
            {" "}
            <code>{id}</code>
          </span>
        ))}
      </p>
    );
  }
  return (
    <>
      <Preview space={space} target={target} />
      <form class="row" onSubmit={erase}>
        <Field label={t.erasure.confirm(target.name)} value={typed} onValue={setTyped} hint={t.erasure.forGood} />
        <button type="submit" class="danger" disabled={busy || typed !== target.name}>
          {busy ? t.act.busy : t.erasure.erase}
        </button>
      </form>
      {busy && accepted && <Busy label={records > 0 ? t.erasure.erasingRecords(whole(records)) : t.erasure.erasing} />}
      {failure && <Trouble failure={failure} />}
    </>
  );
}

function Receipts({ space }: { space: string }) {
  const receipts = useLoaded(
    async (signal) => {
      const { items, all } = await readWhole<Receipt>(inSpace(space, "erasures"), {}, RECEIPTS_READ, signal);
      return { items: items.toSorted((a, b) => Date.parse(b.requested_at) - Date.parse(a.requested_at)), all };
    },
    [space],
  );
  return (
    <Card title={t.erasure.receipts}>
      <Shown from={receipts}>
        {({ items, all }) =>
          items.length === 0 ? (
            <Empty title={t.erasure.noReceipts} />
          ) : (
            <>
              <CutNotice all={all} most={RECEIPTS_READ} />
              <PagedList items={items} step={LISTED}>
                {(some) => some.map((it) => <ReceiptCard key={it.id} space={space} it={it} />)}
              </PagedList>
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function ReceiptCard({ space, it }: { space: string; it: Receipt }) {
  const [check, setCheck] = useState<ErasureCheck>();
  const [failure, setFailure] = useState<Failure>();
  const look = async () => {
    setFailure(undefined);
    try {
      setCheck(await call<ErasureCheck>(inSpace(space, "erasures", it.id, "check"), { method: "POST" }));
    } catch (error) {
      if (error instanceof Failure) setFailure(error);
    }
  };
  return (
    <div class="receipt">
      <Pairs
        rows={[
          { name: t.erasure.receipt, value: <code>{it.id}</code> },
          { name: t.erasure.state, value: <Badge kind={it.state === "complete" ? "good" : "warn"}>{t.erasure.states[it.state]}</Badge> },
          { name: t.erasure.requested, value: minute(it.requested_at) },
          { name: t.erasure.completed, value: minute(it.completed_at) },
          { name: t.erasure.by, value: it.by },
          ...Object.entries(it.erased).map(([name, count]) => ({ name, value: whole(count) })),
        ]}
      />
      {may("admin") && (
        <button type="button" onClick={look}>
          {t.erasure.check}
        </button>
      )}
      {failure && <Trouble failure={failure} />}
      {check && (
        <p role="status">
          <Badge kind={check.absent ? "good" : "bad"}>{check.absent ? t.erasure.absent : t.erasure.found}</Badge>
          {check.stores.map((store) => (
            <Badge key={store.store} kind={store.outcome === "absent" ? "good" : "bad"}>
              {store.store}: {store.outcome.replaceAll("_", " ")}
            </Badge>
          ))}
        </p>
      )}
    </div>
  );
}
