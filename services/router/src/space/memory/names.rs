/// Returns the form in which equal names are compared: lower case and single spaces, without punctuation at the ends of
/// words, a leading "the" or a final "'s".
pub fn normalise_name(name: &str) -> String {
    let lower = name.to_lowercase().replace('\u{2019}', "'");
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|it| it.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'' && c != '+' && c != '#'))
        .filter(|it| !it.is_empty())
        .collect();
    let words = match words.split_first() {
        Some((&"the", rest)) if !rest.is_empty() => rest,
        Some(_) | None => &words[..],
    };
    let joined = words.join(" ");
    joined.strip_suffix("'s").unwrap_or(&joined).to_owned()
}

/// Returns the terms of the stems of a text whose verbs are in the third person: "lives" is read as a form of "live",
/// not of "life".
pub fn verb_terms(text: &str) -> impl Iterator<Item = u32> {
    let words = text::split_words(text).into_iter().filter(|it| !text::is_stop(it));
    words.map(|it| {
        let bare = it
            .strip_suffix('s')
            .filter(|bare| bare.len() > 2 && !bare.ends_with('s'));
        text::meaning::sparse_vectors::hash_stem(&text::stem_word(bare.unwrap_or(it)))
    })
}

#[cfg(test)]
mod tests {
    use super::normalise_name;

    #[test]
    fn variants_of_a_name_have_one_normal_form() {
        for (name, expected) in [
            ("  The   Old Mill ", "old mill"),
            ("Marta\u{2019}s", "marta"),
            ("Marta's sister", "marta's sister"),
            ("\"Oslo\"!", "oslo"),
            ("the", "the"),
            ("Łódź", "łódź"),
            ("?!", ""),
        ] {
            assert_eq!(normalise_name(name), expected);
        }
    }
}
