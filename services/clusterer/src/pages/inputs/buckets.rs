//! The buckets of a space by thing and by number.

pub(crate) mod bucket;

use std::collections::HashMap;

use crate::pages::inputs::buckets::bucket::{About, AboutKey, Bucket};

/// Buckets, each with a number. The lists of things that are mentioned together hold numbers, because there are many
/// more pairs of things than things.
///
/// Being mentioned together is mutual: as long as a thing is in the list of another bucket, that other thing is in its
/// own list. So no list holds the number of a thing whose bucket is empty and was removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    keys: HashMap<About, AboutKey>,
    /// Things with their buckets, by number.
    all: Vec<Option<(About, Box<Bucket>)>>,
    /// Numbers without a thing.
    free: Vec<AboutKey>,
}

impl Buckets {
    pub(crate) fn find_bucket(&self, about: &About) -> Option<&Bucket> {
        let slot = self.all.get(*self.keys.get(about)? as usize)?;
        slot.as_ref().map(|it| &*it.1)
    }

    /// Returns the thing that has a number, or none if the number is free.
    pub(crate) fn thing_of_key(&self, key: AboutKey) -> Option<&About> {
        self.all.get(key as usize)?.as_ref().map(|it| &it.0)
    }

    /// Returns the number of a thing, which gets an empty bucket if it has none.
    pub(crate) fn key_or_new(&mut self, about: &About) -> AboutKey {
        if let Some(key) = self.keys.get(about) {
            return *key;
        }
        let key = self.free.pop().unwrap_or_else(|| {
            self.all.push(None);
            AboutKey::try_from(self.all.len() - 1).unwrap_or(AboutKey::MAX)
        });
        self.all[key as usize] = Some((about.clone(), Box::default()));
        self.keys.insert(about.clone(), key);
        key
    }

    /// Returns the bucket of a thing, which is made if there is none.
    pub(crate) fn bucket_or_new(&mut self, about: &About) -> &mut Bucket {
        let key = self.key_or_new(about) as usize;
        let (_, bucket) = self.all[key].get_or_insert_with(|| (about.clone(), Box::default()));
        bucket
    }

    /// Removes the bucket of a thing if it is empty.
    pub(crate) fn remove_empty_bucket(&mut self, about: &About) {
        let Some(key) = self.keys.get(about).copied() else {
            return;
        };
        let slot = &mut self.all[key as usize];
        if slot.as_ref().is_none_or(|it| it.1.is_empty()) {
            *slot = None;
            self.keys.remove(about);
            self.free.push(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::inputs::names::Name;

    #[test]
    fn the_number_of_an_empty_bucket_is_given_to_another_thing() {
        let about = |it: u32| About::Name(Name::from_written(&it.to_string()));
        let mut buckets = Buckets::default();
        let (one, two) = (buckets.key_or_new(&about(1)), buckets.key_or_new(&about(2)));
        assert_ne!(one, two);
        buckets.bucket_or_new(&about(1)).near.count_key(&two, true);
        buckets.remove_empty_bucket(&about(1));
        buckets.remove_empty_bucket(&about(2));
        assert_eq!(buckets.thing_of_key(one), Some(&about(1)), "it has a neighbour");
        assert_eq!(buckets.thing_of_key(two), None);
        assert!(buckets.find_bucket(&about(2)).is_none());
        assert_eq!(buckets.key_or_new(&about(3)), two);
        assert_eq!(buckets.thing_of_key(two), Some(&about(3)));
    }
}
