/** Fences around text of people and programs, for prompts: data between marks that the authors of the text cannot know. */
import { sha256 } from "./records.js";

/** The name of the fence. The server recognises it and does not store such a block again. */
const NAME = "mnemic-memory";
const MARK_DIGITS = 16;
/** A fence with its content; the closing line may be missing at the end of a truncated text. */
const FENCE = new RegExp(`<${NAME} ([0-9a-f]{${MARK_DIGITS}})>[\\s\\S]*?(?:</${NAME} \\1>|$)`, "g");
/**
 * Invisible characters: controls except line breaks and tabs, joiners after characters that cannot be joined, soft hyphens,
 * bidirectional marks, tags, fillers. The server removes the same characters from its own prompts.
 */
const HIDDEN = new RegExp(
  "(?<![\\u0600-\\u0dff\\u1000-\\u109f\\u1780-\\u18af\\u2190-\\u2bff\\ufe0f\\u{1f000}-\\u{1faff}])[\\u200c\\u200d]" +
    "|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f]" +
    "|[\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]",
  "gu",
);
/** Text that a server could interpret as a marker between messages: `<|im_end|>`, `</s>`, `[INST]`. Fences look similar. */
const ROLE_MARKER = /<(?=[\p{L}|｜/<])|\[(?=\/?[A-Z_]+\])/gu;

/** Characters that the server refuses in a text: controls except line breaks and tabs, and unpaired surrogates. */
const REFUSED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ud800-\udfff]/gu;

/**
 * Returns a text between marks. The mark is derived from the text and its purpose, so no author of a part of the text can know
 * it; the same input gives the same prompt.
 */
export async function fenced(text: string, purpose: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(`${purpose}\n${text}`));
  const mark = digest.slice(0, MARK_DIGITS);
  return `<${NAME} ${mark}>\n${defused(text)}\n</${NAME} ${mark}>`;
}

/**
 * Returns a text without invisible characters, and with a space in every sequence that could end a message and begin another one.
 */
export function defused(text: string): string {
  return text.trimEnd().replaceAll("\t", " ").replace(HIDDEN, "").replace(ROLE_MARKER, "$& ");
}

/** Returns a text without its fences and their content. */
export function withoutFences(text: string): string {
  return text.replace(FENCE, "").trim();
}

/** Returns a part of a text, as `slice` does, without the characters that the server refuses. */
export function sendable(text: string, start: number, end?: number): string {
  return text.slice(start, end).replace(REFUSED, "").trim();
}
