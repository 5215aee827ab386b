use std::fmt;

use bytes::Bytes;
use zerocopy::{FromBytes, IntoBytes};

/// Numbers of 32 bits in the byte order of the machine: in an allocation of their own, or in place in a mapped file.
#[derive(Clone)]
pub(super) enum Region {
    Own(Box<[u32]>),
    /// A part of a mapped file. It begins at a multiple of four bytes and is a multiple of four bytes long.
    Mapped(Bytes),
}

impl Region {
    /// Copies bytes into an allocation. Up to three zeros are added, so that they are whole numbers.
    pub(super) fn from_bytes(bytes: &[u8]) -> Region {
        let mut numbers = vec![0_u32; bytes.len().div_ceil(4)];
        numbers.as_mut_slice().as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        Region::Own(numbers.into_boxed_slice())
    }

    /// Takes a part of a mapped file, which is copied if it cannot be used in place.
    pub(super) fn from_mapped(bytes: Bytes) -> Region {
        match <[u32]>::ref_from_bytes(&bytes).is_ok() {
            true => Region::Mapped(bytes),
            false => Region::from_bytes(&bytes),
        }
    }

    /// Returns a copy in an allocation of its own.
    pub(super) fn to_own(&self) -> Region {
        Region::Own(self.numbers().into())
    }

    pub(super) fn numbers(&self) -> &[u32] {
        match self {
            Region::Own(numbers) => numbers,
            // It was checked when the region was made.
            Region::Mapped(bytes) => <[u32]>::ref_from_bytes(bytes).unwrap_or_default(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Region::Own(numbers) => numbers.as_bytes(),
            Region::Mapped(bytes) => bytes,
        }
    }

    /// Returns the number of bytes in the allocation, if there is one.
    pub(super) fn allocated_bytes(&self) -> usize {
        match self {
            Region::Own(numbers) => size_of_val::<[u32]>(numbers),
            Region::Mapped(_) => 0,
        }
    }
}

impl Default for Region {
    fn default() -> Region {
        Region::Own(Box::default())
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Region) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Region {}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_used_in_place_if_it_holds_whole_numbers() {
        let numbers = [1_u32, 2, 3];
        let file = Bytes::from_owner(numbers.map(u32::to_ne_bytes).as_flattened().to_vec());
        let Region::Own(own) = Region::from_bytes(&file) else {
            panic!("mapped")
        };
        assert_eq!(*own, numbers);
        // Whether a vector of bytes begins at a multiple of four is up to the allocator.
        let start = file.as_ptr().align_offset(4);
        for (part, is_whole) in [
            (start..start + 8, true),
            (start + 1..start + 9, false),
            (start..start + 7, false),
        ] {
            let part = file.slice(part);
            let region = Region::from_mapped(part.clone());
            assert_eq!(
                (matches!(region, Region::Mapped(_)), region.allocated_bytes()),
                (is_whole, if is_whole { 0 } else { 8 })
            );
            assert_eq!(
                (&region.bytes()[..part.len()], region.to_own() == region),
                (&part[..], true)
            );
        }
    }
}
