import { t } from "../strings";

/** The features of the router, grouped by the data that they use (`services/router/src/route/scoring/feature_slots.rs`). */
const GROUPS: { [group in keyof typeof t.features]: string } = {
  words: "bm25 bm25_raw cover hits rare bigram",
  matter: "matter",
  likeness: "late late_top sentence strong nouns first_top first first_rank late_rank late_sharp late_rare weaker sentence_top",
  around: "window gain dense_window near asked reply back before_2 before after after_2 before_same before_short encoded_before encoded_after",
  meaning: "dense dense_top dense_rank dense_sentence encoded encoded_top encoded_rank encoded_first",
  session: "first_session session session_cover session_rank session_best session_dense opens encoded_session encoded_session_best",
  own: "by_named owned by_named_first named_of_i",
  other: "by_other by_other_first other_to_you",
  names: "names names_near session_names",
  time: "in_time in_time_first",
  kind: "expected expected_first tense caption_asked same_plan same_liking same_feeling same_kin",
  form: "length short caption words rarity_sum rarity_mean parts",
  asking: "questions greeting asks",
  role: "assistant assistant_long user user_first",
  wishes: "habit wish covered_wish standing standing_first standing_covered standing_user",
  age: "later",
  else: "covered covered_top covered_sentence both_sides",
  chain: "chained",
};

const GROUP_OF = new Map<string, keyof typeof t.features>();
for (const [group, names] of Object.entries(GROUPS)) {
  for (const name of names.split(" ")) GROUP_OF.set(name, group as keyof typeof t.features);
}

/** Returns a label for a feature: the data that it uses, and its name. */
export function featureLabel(name: string): string {
  const group = GROUP_OF.get(name);
  const plain = name.replaceAll("_", " ");
  return group ? `${t.features[group]} (${plain})` : plain;
}
