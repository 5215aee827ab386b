import { t } from "../strings";
import { Badge, Words } from "./parts";

interface Props {
  tags: string[];
  /** Maximum number of tags that are shown; the number of the others follows. */
  most?: number;
  /** Returns the link of a tag; without it, tags are not links. */
  to?: (tag: string) => string;
}

/** The tags of a record as chips; empty if it has no tags. */
export function Tags({ tags, most = Number.POSITIVE_INFINITY, to }: Props) {
  if (tags.length === 0) return null;
  return (
    <ul class="chips" aria-label={t.tags.title}>
      {tags.slice(0, most).map((tag) => (
        <li key={tag}>
          <Badge>{to ? <a href={to(tag)}><Words text={tag} /></a> : <Words text={tag} />}</Badge>
        </li>
      ))}
      {tags.length > most && <li class="hint">{t.tags.others(tags.length - most)}</li>}
    </ul>
  );
}
