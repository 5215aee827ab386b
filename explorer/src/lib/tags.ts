/** One entry of a list of tags: in quotes up to the next comma or the end, or any text without a comma. */
const PART = /\s*"[^"]*"\s*(?=,|$)|[^,]+/g;

/**
 * Returns the tags in a comma-separated list, without repetitions, in their order. Quotes preserve commas and outer spaces in a
 * tag.
 */
export function tagsIn(text: string): string[] {
  const tags = (text.match(PART) ?? []).map((part) => {
    const tag = part.trim();
    return tag.length > 2 && tag.startsWith('"') && tag.endsWith('"') ? tag.slice(1, -1) : tag;
  });
  return [...new Set(tags.filter((tag) => tag !== "" && tag !== '""'))];
}

/** Returns the most frequent tags of the items, at most `most`, in alphabetical order. */
export function commonTags(items: { tags: string[] }[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const { tags } of items) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const byCount = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return byCount.slice(0, most).map(([tag]) => tag).toSorted();
}
