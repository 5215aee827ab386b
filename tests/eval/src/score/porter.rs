//! Porter's stemmer with the extensions that NLTK adds by default. Published answer scores are computed with this
//! stemmer.
//!
//! Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980; NLTK's documentation of
//! `PorterStemmer`, mode `NLTK_EXTENSIONS`.

/// Words for which the rules are wrong, with their stems. Sorted, for a binary search.
const IRREGULAR: [(&str, &str); 16] = [
    ("canning", "canning"),
    ("cannings", "canning"),
    ("dying", "die"),
    ("exceed", "exceed"),
    ("howe", "howe"),
    ("inning", "inning"),
    ("innings", "inning"),
    ("lying", "lie"),
    ("news", "news"),
    ("outing", "outing"),
    ("outings", "outing"),
    ("proceed", "proceed"),
    ("skies", "sky"),
    ("sky", "sky"),
    ("succeed", "succeed"),
    ("tying", "tie"),
];

/// Suffixes of step 2 with their replacements. The first suffix that fits decides; the rest must have a measure above
/// 0.
const DERIVED: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

/// Suffixes of step 3, used like `DERIVED`.
const ADJECTIVAL: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Suffixes of step 4. A suffix is dropped if the measure of the rest is above 1; `ion` only after `s` or `t`.
const DROPPED: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

/// Returns the stem of a word, in lower case. A word of one or two characters is returned whole.
pub fn stem_word(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Ok(at) = IRREGULAR.binary_search_by(|(form, _)| (*form).cmp(&lower)) {
        return IRREGULAR[at].1.to_owned();
    }
    if word.chars().nth(2).is_none() {
        return lower;
    }
    let word = without_plural(&lower);
    let word = without_participle(&word);
    let word = with_final_i(word);
    let word = strip_derivations(word);
    let word = replace_suffix(&word, &ADJECTIVAL).unwrap_or(word);
    without_double_l(without_e(drop_suffix(word)))
}

fn without_plural(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies") {
        return rest.to_owned() + if suffix_length(word) == 4 { "ie" } else { "i" };
    }
    if word.ends_with("sses") {
        return word[..word.len() - 2].to_owned();
    }
    if word.ends_with("ss") {
        return word.to_owned();
    }
    word.strip_suffix('s').unwrap_or(word).to_owned()
}

fn without_participle(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ied") {
        return rest.to_owned() + if suffix_length(word) == 4 { "ie" } else { "i" };
    }
    if let Some(rest) = word.strip_suffix("eed") {
        return if count_vowel_consonant_pairs(rest) > 0 {
            rest.to_owned() + "ee"
        } else {
            word.to_owned()
        };
    }
    let rest = ["ed", "ing"]
        .into_iter()
        .filter_map(|suffix| word.strip_suffix(suffix))
        .find(|rest| has_vowel(rest));
    let Some(rest) = rest else { return word.to_owned() };
    if ["at", "bl", "iz"].iter().any(|end| rest.ends_with(end)) {
        return rest.to_owned() + "e";
    }
    if ends_double_consonant(rest) {
        let kept = rest.ends_with(['l', 's', 'z']);
        return if kept {
            rest.to_owned()
        } else {
            without_last(rest).to_owned()
        };
    }
    if count_vowel_consonant_pairs(rest) == 1 && ends_short(rest) {
        rest.to_owned() + "e"
    } else {
        rest.to_owned()
    }
}

fn with_final_i(word: String) -> String {
    match word.strip_suffix('y') {
        Some(rest) if suffix_length(rest) > 1 && mark_consonants(rest).last() == Some(&true) => rest.to_owned() + "i",
        _ => word,
    }
}

fn strip_derivations(word: String) -> String {
    if let Some(rest) = word
        .strip_suffix("alli")
        .filter(|rest| count_vowel_consonant_pairs(rest) > 0)
    {
        return strip_derivations(rest.to_owned() + "al");
    }
    if let Some(replaced) = replace_suffix(&word, &DERIVED) {
        return replaced;
    }
    match word.strip_suffix("logi") {
        Some(rest) if count_vowel_consonant_pairs(&word[..rest.len() + 1]) > 0 => rest.to_owned() + "log",
        _ => word,
    }
}

/// Returns the word after the first rule whose suffix fits, or `None` if no suffix fits.
fn replace_suffix(word: &str, rules: &[(&str, &str)]) -> Option<String> {
    let (rest, replacement) = rules
        .iter()
        .find_map(|(suffix, to)| Some((word.strip_suffix(suffix)?, to)))?;
    Some(if count_vowel_consonant_pairs(rest) > 0 {
        rest.to_owned() + replacement
    } else {
        word.to_owned()
    })
}

fn drop_suffix(word: String) -> String {
    let Some((rest, suffix)) = DROPPED.iter().find_map(|it| Some((word.strip_suffix(it)?, *it))) else {
        return word;
    };
    let fits = suffix != "ion" || rest.ends_with(['s', 't']);
    if fits && count_vowel_consonant_pairs(rest) > 1 {
        rest.to_owned()
    } else {
        word
    }
}

fn without_e(word: String) -> String {
    let Some(rest) = word.strip_suffix('e') else {
        return word;
    };
    let measure = count_vowel_consonant_pairs(rest);
    if measure > 1 || (measure == 1 && !ends_short(rest)) {
        rest.to_owned()
    } else {
        word
    }
}

fn without_double_l(word: String) -> String {
    if word.ends_with("ll") && count_vowel_consonant_pairs(without_last(&word)) > 1 {
        without_last(&word).to_owned()
    } else {
        word
    }
}

/// Returns for each letter whether it is a consonant. A `y` after a consonant counts as a vowel.
fn mark_consonants(word: &str) -> Vec<bool> {
    let mut flags = Vec::with_capacity(word.len());
    for letter in word.chars() {
        let flag = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' => false,
            'y' => flags.last() != Some(&true),
            _ => true,
        };
        flags.push(flag);
    }
    flags
}

/// Returns the measure: how often a vowel is followed by a consonant.
fn count_vowel_consonant_pairs(word: &str) -> usize {
    mark_consonants(word)
        .windows(2)
        .filter(|pair| !pair[0] && pair[1])
        .count()
}

fn has_vowel(word: &str) -> bool {
    mark_consonants(word).contains(&false)
}

fn ends_double_consonant(word: &str) -> bool {
    let mut letters = word.chars().rev();
    letters.next().is_some_and(|last| letters.next() == Some(last)) && mark_consonants(word).last() == Some(&true)
}

/// Returns true if the word ends with a consonant, a vowel and a consonant other than `w`, `x`, `y`, or if it consists
/// of a vowel and a consonant.
fn ends_short(word: &str) -> bool {
    match mark_consonants(word).as_slice() {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        flags => flags == [false, true],
    }
}

fn suffix_length(word: &str) -> usize {
    word.chars().count()
}

fn without_last(word: &str) -> &str {
    word.char_indices().next_back().map_or("", |(at, _)| &word[..at])
}
