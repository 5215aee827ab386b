use super::region::Region;

/// Some texts, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    /// The end of each text, counted from the start of the first one, then the texts.
    region: Region,
    count: u32,
}

impl Texts {
    /// Joins texts.
    pub(super) fn from_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Texts {
        let (mut joined, mut end, mut count) = (Vec::new(), 0_u32, 0);
        for text in texts.clone() {
            end += text.len() as u32;
            count += 1;
            joined.extend(end.to_ne_bytes());
        }
        joined.extend(texts.flat_map(str::bytes));
        Texts {
            region: Region::from_bytes(&joined),
            count,
        }
    }

    /// Takes texts that were joined before; `None` if they are damaged.
    pub(super) fn from_region(region: Region, count: u32) -> Option<Texts> {
        let texts = Texts { region, count };
        let ends = texts.region.numbers().get(..count as usize)?;
        let joined = &texts.region.bytes()[4 * count as usize..];
        let mut start = 0;
        for end in ends {
            let text = joined.get(start as usize..*end as usize)?;
            std::str::from_utf8(text).ok()?;
            start = *end;
        }
        Some(texts)
    }

    /// Returns one of the texts; empty if there are not so many.
    pub(super) fn get(&self, number: usize) -> &str {
        let ends = &self.region.numbers()[..self.len()];
        let start = number
            .checked_sub(1)
            .map_or(0, |it| ends.get(it).copied().unwrap_or_default());
        let Some(end) = ends.get(number) else { return "" };
        let text = &self.region.bytes()[4 * self.len()..][start as usize..*end as usize];
        // It was checked when the texts were joined or read.
        std::str::from_utf8(text).unwrap_or_default()
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    pub(super) fn region(&self) -> &Region {
        &self.region
    }

    /// Returns a copy in an allocation of its own.
    pub(super) fn to_own(&self) -> Texts {
        Texts {
            region: self.region.to_own(),
            count: self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_texts_are_read_one_by_one() {
        let all = ["", "caf\u{e9}", "\u{1F600}", ""];
        let texts = Texts::from_texts(all.into_iter());
        let read: Vec<&str> = (0..texts.len()).map(|it| texts.get(it)).collect();
        assert_eq!((read.as_slice(), texts.get(4)), (&all[..], ""));
        assert_eq!(Texts::from_region(texts.region.clone(), 4), Some(texts));
    }

    #[test]
    fn damaged_texts_are_refused() {
        let texts = Texts::from_texts(["ab", "caf\u{e9}"].into_iter());
        let numbers = texts.region.numbers();
        let changed = |at: usize, to: u32| {
            let mut numbers = numbers.to_vec();
            numbers[at] = to;
            Region::Own(numbers.into_boxed_slice())
        };
        for (region, count) in [
            (texts.region.clone(), 40),
            (changed(0, 40), 2),
            (changed(0, 8), 2),
            // Inside of a character.
            (changed(1, 6), 2),
            (changed(2, u32::MAX), 2),
        ] {
            assert_eq!(Texts::from_region(region.clone(), count), None, "{region:?}");
        }
    }
}
