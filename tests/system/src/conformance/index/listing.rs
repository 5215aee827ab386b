//! Lists points page by page.

use domain::port::Point;

use super::super::Ports;
use super::super::sample::{space, unit};
use super::{Numbers, open_empty};

/// Every point that searches can find is listed once, whatever the page size, and no point of another space is listed.
pub async fn points_are_listed_once(open: impl AsyncFn() -> Ports) {
    let (ports, dimension) = open_empty(open).await;
    let (index, a) = (&ports.index, space("a"));
    let mut numbers = Numbers(9);
    let mut points: Vec<Point> = Vec::new();
    for number in 1..8 {
        for part in 0..1 + (number % 3) as u16 {
            points.push(numbers.point(number, part, dimension));
        }
    }
    index.put(&a, &points, &[]).await.unwrap();
    index
        .put(&space("b"), &[numbers.point(99, 0, dimension)], &[])
        .await
        .unwrap();
    index.put(&a, &[], &[unit(3).id]).await.unwrap();
    let expected = points.iter().map(|it| (it.unit, it.part));
    let expected: Vec<_> = expected.filter(|it| it.0 != unit(3).id).collect();
    for limit in [1, 4, 1_000] {
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = index.points(&a, after, limit).await.unwrap();
            assert!(page.len() <= limit, "{} points in a page of {limit}", page.len());
            listed.extend(page);
            after = next;
            if after.is_none() {
                break;
            }
        }
        listed.sort_unstable();
        assert_eq!(listed, expected);
    }
    assert_eq!(index.points(&space("c"), None, 9).await.unwrap(), (Vec::new(), None));
}
