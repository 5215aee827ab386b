/** A part of a list of tags: in quotes up to the next comma or the end, or anything without a comma. */
const PART = /\s*"[^"]*"\s*(?=,|$)|[^,]+/g;

/** Returns the tags of a list that people write with commas, each once, in their order. Quotes keep commas and outer spaces of a tag. */
export function tagsIn(text: string): string[] {
  const tags = (text.match(PART) ?? []).map((part) => {
    const tag = part.trim();
    return tag.length > 2 && tag.startsWith('"') && tag.endsWith('"') ? tag.slice(1, -1) : tag;
  });
  return [...new Set(tags.filter((tag) => tag !== "" && tag !== '""'))];
}

/** Returns the tags that most of these have, at most `most`, in the order of the alphabet. */
export function commonTags(items: { tags: string[] }[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const { tags } of items) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return byCount.slice(0, most).map(([tag]) => tag).toSorted();
}
