//! Which language a text is in, by the words of the table.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::PHRASES;
use crate::is_stop;

/// The words of the phrases of all languages.
static WORDS: LazyLock<HashMap<&str, Held>> = LazyLock::new(|| {
    let mut held: HashMap<&str, Held> = HashMap::new();
    for (column, phrases) in PHRASES.iter().enumerate().take(LANGUAGES_MAX) {
        for word in phrases.keys().flat_map(|it| it.split(' ')) {
            held.entry(word).or_default().columns[column] = 1;
        }
    }
    let shared: HashSet<&str> = ENGLISH_TOO.split_whitespace().collect();
    for (word, it) in &mut held {
        it.tells = word.len() > 1 && !is_stop(word) && !shared.contains(word);
    }
    held
});

/// Languages that the table may have.
const LANGUAGES_MAX: usize = 16;

/// Where a word is one of a phrase.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    /// 1 for every language that has it.
    columns: [u16; LANGUAGES_MAX],
    /// It is no word of English, no name and no letter.
    tells: bool,
}

/// Words at the start of a text by which its language is told.
const TOLD_BY: usize = 200;
/// Words of the table that are English words, names or abbreviations as well, so that they tell no language; nor do
/// single letters.
const ENGLISH_TOO: &str = "acht adore ai al all alt ami amo architect are arts as aus auto baas bauer bebe been ben best bin blanc boa boer \
    bon boss brief cane capo car casa cet chat chauffeur chef chi chose ci ciao cinco color com come comment con \
    contra cousin da dal dan dank das de dei del dem den der des di die dio dir doctor doctora dona dos dove drink \
    du due el elke elle em en encore er era es esposa est et ex fand fu ga gab gli gracias grand ha had hat hay heel \
    ho hola hond il ils im io ja jan je job journalist kat koch kok kost la lang las le lee leo les lit llama lo los \
    lu ma made maestro mag mai mais mama man mange mas me men merci mes met mi mir mis mit mora moro na name namen \
    ne negro noir non nonna nos nova nu num nun ob ober of oi oma on op ora ore os ou over pai papa part parti \
    patron per plus pour prima primo professor rode rosa rot rouge sale salut sans se seis sept si sie sin six solo \
    son student studio su ta te tem temps ton tot tu um uma un una uno us va van von vos want war werk wit ya zes zu";
/// Returns the language of the words of a text, as a column; none for English.
pub(super) fn language(text: &str, words: &[Range<usize>]) -> Option<usize> {
    let told = || words.iter().take(TOLD_BY).map(|it| lower(&text[it.clone()]));
    let (mut hits, mut told_by) = ([0; LANGUAGES_MAX], [0; LANGUAGES_MAX]);
    for held in told().filter_map(|it| WORDS.get(it.as_ref())) {
        let add = |sums: &mut [u16; LANGUAGES_MAX]| sums.iter_mut().zip(held.columns).for_each(|(sum, it)| *sum += it);
        add(&mut hits);
        if held.tells {
            add(&mut told_by);
        }
    }
    let (column, most) = (0..LANGUAGES_MAX)
        .map(|it| (it, told_by[it]))
        .max_by_key(|it| (it.1, hits[it.0], std::cmp::Reverse(it.0)))?;
    if most == 0 {
        return None;
    }
    let of_it = |it: &str| WORDS.get(it).is_some_and(|it| it.columns[column] > 0);
    let english = told().filter(|it| is_stop(it) && !of_it(it)).count();
    // Japanese has the signs of Chinese as well.
    let kana = || text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
    (usize::from(most) > english && !kana()).then_some(column)
}

pub(super) fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|it| it.is_ascii_lowercase()) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(word.to_lowercase())
    }
}
