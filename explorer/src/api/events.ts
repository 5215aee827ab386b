/** One event of a stream. */
export interface StreamEvent {
  name: string;
  data: string;
}

/** Maximum number of characters of one event. */
const EVENT_MAX = 16 << 20;

/** Returns the name and data of an event; undefined for comments, which keep the connection open. */
function parse(block: string): StreamEvent | undefined {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice("event:".length).trim();
    if (line.startsWith("data:")) data.push(line.slice("data:".length).trim());
  }
  return data.length > 0 ? { name, data: data.join("\n") } : undefined;
}

/** Returns the server-sent events of a response as they arrive. Throws if the connection breaks or an event is too long. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > EVENT_MAX) throw new Error(`an event has more than ${EVENT_MAX} characters`);
      for (const block of blocks) {
        const event = parse(block);
        if (event) yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
