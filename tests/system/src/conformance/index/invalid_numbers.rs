//! Vectors and weights that cannot be compared.

use domain::ErrorKind;
use domain::port::{Point, Search};

use super::super::sample::{point, space};
use super::super::{Ports, error_kind};
use super::{open_empty, unit_vector};

/// A vector or a weight that is not finite is refused, in a put and in a search. Nothing of such a put is stored.
pub async fn numbers_that_are_not_finite_are_refused(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (a, index) = (space("a"), &ports.index);
    let right = point(1, 0, unit_vector(dimension, 0));
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut dense = right.dense.clone();
        dense[1] = number;
        let weights = vec![(1, number)];
        for wrong in [
            Point {
                dense: dense.clone(),
                ..right.clone()
            },
            Point {
                words: weights.clone(),
                ..right.clone()
            },
            Point {
                pieces: weights.clone(),
                ..right.clone()
            },
        ] {
            let put = index.put(&a, &[right.clone(), wrong], &[]).await;
            assert_eq!(error_kind(put), Some(ErrorKind::Invalid), "{number}");
        }
        for (dense, words, pieces) in [
            (Some(dense), None, None),
            (None, Some(weights.clone()), None),
            (None, None, Some(weights)),
        ] {
            let search = Search {
                dense,
                words,
                pieces,
                limit: 9,
                ..Search::default()
            };
            let found = index.search(&a, &search).await;
            assert_eq!(error_kind(found), Some(ErrorKind::Invalid), "{number}");
        }
    }
    assert_eq!(index.count(&a).await.unwrap(), 0);
    index.put(&a, &[right], &[]).await.unwrap();
    assert_eq!(index.count(&a).await.unwrap(), 1);
}
