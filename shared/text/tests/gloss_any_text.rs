//! The pieces of any text are its words in order, and the rules that read them do not panic.

use chrono::{DateTime, FixedOffset};
use proptest::prelude::*;
use text::facts::{Telling, statements_of_turn};
use text::gloss::{content_words, split_pieces, to_english};
use text::people::ownership::{self, Context};

const WORDS: &str = "ich bin habe wohne in Wien nach Graz gezogen mein Hund heißt Balu und er ist drei Jahre alt nicht kein Lenas \
    Hund von Jonas' Schwester wie heißt was arbeitet wer hat sich ¿ ? . , … « » ' ’ ’s j'habite à l'école qu'est-ce que \
    me mudé a Lugo tengo 34 años yo vivo no como carne mi mi perro se llama io sono allergico alle noci perché o que \
    não ik ben verhuisd naar zijn kat heet 我 的 猫 叫 雪球 住在 上海 ， 。 吗 谁 什么 İ ẞ 𝕏 👩‍🚀 the and I a";

fn check(text: &str) {
    let mut after = 0;
    for piece in split_pieces(text).unwrap_or_default() {
        assert!(
            piece.range.start >= after && piece.range.start < piece.range.end,
            "{text}"
        );
        assert!(text.get(piece.range.clone()).is_some(), "{text}");
        after = piece.range.end;
    }
    assert!(
        content_words(text, &split_pieces(text).unwrap_or_default())
            .iter()
            .all(|it| text.contains(it.written)),
        "{text}"
    );
    let glossed = to_english(text);
    assert!(split_pieces(text).is_some() || glossed == text, "{text}");
    let owned = ownership::ownership_of_sentence(text, &Context::default());
    assert!((0.0..=1.0).contains(&owned.speaker) && (0.0..=1.0).contains(&owned.addressee));
    let telling = Telling {
        text,
        speaker: "Ann",
        addressee: "Ben",
        observed_at: DateTime::<FixedOffset>::default(),
    };
    for statement in statements_of_turn(&telling) {
        assert!(!statement.object.trim().is_empty(), "{text}: {statement:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn words_of_many_languages_are_cut_in_order(words in prop::collection::vec(prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>()), 0..14)) {
        check(&words.join(" "));
        check(&words.concat());
    }

    #[test]
    fn any_characters_are_cut_in_order(text in "\\PC{0,60}") {
        check(&text);
    }
}
