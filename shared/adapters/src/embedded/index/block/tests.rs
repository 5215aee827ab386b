use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::embedded::index::image::image_folder;
use crate::embedded::mapped_files::{FileFolder, FileNumber};

const DIMENSION: usize = 24;

/// A sequence of numbers that looks random and is always the same.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (self.0 >> 12) % bound
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION)
            .map(|_| self.below(2_000) as f32 / 1_000.0 - 1.0)
            .collect()
    }

    fn terms(&mut self) -> Vec<(u32, f32)> {
        let terms: BTreeMap<u32, f32> = (0..self.below(6))
            .map(|_| (self.below(30), self.below(100) as f32 / 50.0))
            .collect();
        terms.into_iter().collect()
    }

    fn point(&mut self) -> Point {
        Point {
            unit: UnitId::from_uuid(uuid::Uuid::from_u128(u128::from(self.below(200)))),
            part: self.below(3) as u16,
            dense: self.vector(),
            words: self.terms(),
            pieces: self.terms(),
            observed_at: i64::from(self.below(1_000)) - 500,
        }
    }

    fn search(&mut self) -> Search {
        Search {
            dense: Some(self.vector()),
            words: Some(self.terms()),
            pieces: Some(self.terms()),
            limit: self.below(40) as usize + 1,
            from: (self.below(2) == 0).then_some(-200),
            ..Search::default()
        }
    }
}

/// Writes an image of a block and returns a block that uses it.
fn saved(block: &Block, folder: &FileFolder, id: i64) -> Block {
    let digest = folder
        .write_file(FileNumber(id), 0, |out| block.write_image(out))
        .unwrap();
    let file = folder.map_verified(FileNumber(id), &digest).unwrap();
    Block::from_image(Image::from_file(&file).unwrap())
}

#[test]
fn a_block_over_an_image_finds_the_same_as_one_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let folder = image_folder(&dir.path().join("database"));
    let (mut numbers, mut block, mut live) = (Numbers(3), Block::new(DIMENSION), BTreeMap::new());
    for round in 0..400 {
        match numbers.below(8) {
            0 => {
                let unit = numbers.point().unit;
                block.remove_unit(unit);
                live.retain(|key: &(UnitId, u16), _| key.0 != unit);
            }
            1 => {
                block = saved(&block, &folder, round);
                assert_eq!((block.memory_slots(), block.image_slots()), (0, live.len()));
            }
            2 => block.copy_from_image(),
            _ => {
                for _ in 0..numbers.below(8) {
                    let point = numbers.point();
                    block.insert(&point);
                    live.insert((point.unit, point.part), point);
                }
            }
        }
        let mut plain = Block::new(DIMENSION);
        live.values().for_each(|it| plain.insert(it));
        let search = numbers.search();
        assert_eq!(
            block.search_points(&search),
            plain.search_points(&search),
            "round {round}"
        );
    }
}

#[test]
fn images_of_another_format_or_size_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = image_folder(&dir.path().join("database"));
    let (mut numbers, mut block, mut image) = (Numbers(5), Block::new(DIMENSION), Vec::new());
    (0..20).for_each(|_| block.insert(&numbers.point()));
    block.write_image(&mut image).unwrap();
    let refused = |id: i64, bytes: &[u8]| {
        let digest = folder
            .write_file(FileNumber(id), 0, |out| out.write_all(bytes))
            .unwrap();
        Image::from_file(&folder.map_verified(FileNumber(id), &digest).unwrap()).is_none()
    };
    assert!(!refused(1, &image));
    for at in 0..64 {
        // The numbers in the head lead to other sizes; only the two bounds at its end do not.
        let mut other = image.clone();
        other[at] ^= 0x80;
        assert_eq!(refused(2 + at as i64, &other), at < 56, "byte {at}");
    }
    assert!(refused(100, &image[..image.len() - 1]) && refused(101, &image[..10]) && refused(102, b""));
}

#[test]
fn a_file_in_use_is_destroyed_after_its_last_use() {
    let dir = tempfile::tempdir().unwrap();
    let folder = image_folder(&dir.path().join("database"));
    let (mut numbers, mut block) = (Numbers(9), Block::new(DIMENSION));
    (0..50).for_each(|_| block.insert(&numbers.point()));
    let mapped = Arc::new(saved(&block, &folder, 1));
    let path = dir.path().join("mnemic.index/1.points");
    let search = numbers.search();
    let found = mapped.search_points(&search);
    folder.keep_only(&[]).unwrap();
    assert_eq!(mapped.search_points(&search), found);
    assert!(path.exists());
    drop(mapped);
    // Another thread destroys the file; the folder waits for it.
    drop(folder);
    assert!(!path.exists());
}
