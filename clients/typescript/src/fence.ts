/** Fences around what people and programs said, for prompts: data between marks that its authors cannot know. */
import { sha256 } from "./records.js";

/** The name that the server knows, which stores no such block again. */
const NAME = "mnemic-memory";
const MARK_DIGITS = 16;
/** A fence with its content; the closing line may be missing where a text was cut. */
const FENCE = new RegExp(`<${NAME} ([0-9a-f]{${MARK_DIGITS}})>[\\s\\S]*?(?:</${NAME} \\1>|$)`, "g");
/**
 * Characters that a reader does not see: controls but for line breaks and tabs, joiners after characters that are not joined, soft hyphens,
 * bidirectional marks, tags, fillers. The same as the server takes out of its own prompts.
 */
const HIDDEN = new RegExp(
  "(?<![\\u0600-\\u0dff\\u1000-\\u109f\\u1780-\\u18af\\u2190-\\u2bff\\ufe0f\\u{1f000}-\\u{1faff}])[\\u200c\\u200d]" +
    "|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f]" +
    "|[\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufdd0-\\ufdef\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]",
  "gu",
);
/** What a server could take for a marker between messages: `<|im_end|>`, `</s>`, `[INST]`. Fences look like one too. */
const ROLE_MARKER = /<(?=[\p{L}|｜/<])|\[(?=\/?[A-Z_]+\])/gu;

/**
 * Returns a text between marks. The mark is made of the text and of what it is for, so that nobody whose words are in the text can
 * know it; the same input gives the same prompt.
 */
export async function fenced(text: string, purpose: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(`${purpose}\n${text}`));
  const mark = digest.slice(0, MARK_DIGITS);
  return `<${NAME} ${mark}>\n${defused(text)}\n</${NAME} ${mark}>`;
}

/** Returns a text without hidden characters, and with a space in whatever could end a message and begin another one. */
export function defused(text: string): string {
  return text.trimEnd().replaceAll("\t", " ").replace(HIDDEN, "").replace(ROLE_MARKER, "$& ");
}

/** Returns a text without the fences in it and what is between them. */
export function withoutFences(text: string): string {
  return text.replace(FENCE, "").trim();
}
