//! Bytes of the router's own formats: numbers, texts and lists, written one after the other.

use bytes::Bytes;

use super::region::Region;

/// The bytes that are written.
#[derive(Default)]
pub(super) struct ByteWriter(pub(super) Vec<u8>);

impl ByteWriter {
    /// Writes a number with seven bits in each byte, lowest first.
    pub(super) fn write_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Writes a number that may be negative: small ones of either sign take few bytes.
    pub(super) fn write_signed(&mut self, number: i64) {
        self.write_number((number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
    }

    /// Writes the length of a list.
    pub(super) fn write_length(&mut self, length: usize) {
        self.write_number(length as u64);
    }

    /// Writes the length of a text, then the text.
    pub(super) fn write_text(&mut self, text: &str) {
        self.write_length(text.len());
        self.0.extend(text.as_bytes());
    }

    /// Writes the number of texts, then the texts.
    pub(super) fn write_texts<T: AsRef<str>>(&mut self, texts: &[T]) {
        self.write_length(texts.len());
        texts.iter().for_each(|it| self.write_text(it.as_ref()));
    }

    /// Writes a region at the next multiple of four bytes.
    pub(super) fn write_region(&mut self, region: &Region) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self.0.extend(region.bytes());
    }
}

/// The bytes that are left to read. A read returns `None` if they do not fit.
pub(super) struct ByteReader<'a> {
    rest: &'a [u8],
    all: &'a Bytes,
    /// True if the bytes are a part of a mapped file, and regions are used in place.
    is_mapped: bool,
}

impl<'a> ByteReader<'a> {
    /// Begins with the first of some bytes.
    pub(super) fn new(all: &'a Bytes, is_mapped: bool) -> ByteReader<'a> {
        ByteReader {
            rest: all,
            all,
            is_mapped,
        }
    }

    /// Returns true if no bytes are left.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns a region of some bytes, which begins at the next multiple of four bytes.
    pub(super) fn read_region(&mut self, bytes: usize) -> Option<Region> {
        let at = self.all.len() - self.rest.len();
        self.take_bytes(at.next_multiple_of(4) - at)?;
        let region = self.take_bytes(bytes)?;
        Some(match self.is_mapped {
            true => Region::from_mapped(self.all.slice_ref(region)),
            false => Region::from_bytes(region),
        })
    }

    pub(super) fn take_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N)?.first_chunk().copied()
    }

    pub(super) fn read_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(super) fn read_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.read_byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn read_signed(&mut self) -> Option<i64> {
        let number = self.read_number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(super) fn read_u32(&mut self) -> Option<u32> {
        u32::try_from(self.read_number()?).ok()
    }

    /// Returns the length of a list. Each item of it takes at least one byte, so the list cannot be longer than the
    /// bytes that are left.
    pub(super) fn read_length(&mut self) -> Option<usize> {
        let length = usize::try_from(self.read_number()?).ok()?;
        (length <= self.rest.len()).then_some(length)
    }

    pub(super) fn read_str(&mut self) -> Option<&'a str> {
        let count = self.read_length()?;
        std::str::from_utf8(self.take_bytes(count)?).ok()
    }

    pub(super) fn read_texts<T: From<&'a str>>(&mut self) -> Option<Vec<T>> {
        let count = self.read_length()?;
        let mut texts = Vec::with_capacity(count);
        for _ in 0..count {
            texts.push(T::from(self.read_str()?));
        }
        Some(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_read_as_they_were_written() {
        let mut out = ByteWriter::default();
        let (numbers, signed) = ([0, 127, 128, u64::MAX], [0, -1, 1, 64, i64::MIN, i64::MAX]);
        numbers.iter().for_each(|it| out.write_number(*it));
        signed.iter().for_each(|it| out.write_signed(*it));
        out.write_texts(&["", "caf\u{e9}"]);
        out.write_region(&Region::from_bytes(b"four and"));
        out.write_number(9);
        let bytes = Bytes::from(out.0);
        let mut read = ByteReader::new(&bytes, true);
        assert!(numbers.iter().all(|it| read.read_number() == Some(*it)));
        assert!(signed.iter().all(|it| read.read_signed() == Some(*it)));
        assert_eq!(read.read_texts::<String>().unwrap(), ["", "caf\u{e9}"]);
        assert_eq!(read.read_region(8).unwrap().bytes(), b"four and");
        assert_eq!(
            (read.read_number(), read.is_at_end(), read.read_byte()),
            (Some(9), true, None)
        );
    }

    #[test]
    fn lengths_beyond_the_end_are_refused() {
        let read = |bytes: &'static [u8]| {
            let bytes = Bytes::from_static(bytes);
            ByteReader::new(&bytes, false).read_str().map(str::to_owned)
        };
        assert_eq!(read(&[2, b'a', b'b']).as_deref(), Some("ab"));
        for bytes in [&[3, b'a', b'b'][..], &[0x80], &[0xff; 11], &[2, 0xc3, 0x28]] {
            assert_eq!(read(bytes), None, "{bytes:?}");
        }
        let bytes = Bytes::from_static(&[1, 0, 0, 0, 5, 5, 5, 5]);
        for (count, is_there) in [(4, true), (8, false)] {
            let mut read = ByteReader::new(&bytes, false);
            assert_eq!(read.read_byte(), Some(1));
            assert_eq!(read.read_region(count).is_some(), is_there, "{count}");
        }
    }
}
