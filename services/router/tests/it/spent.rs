//! A pack uses its budget: the estimated cost of a line is its real cost.

use router::space::view::View;

use crate::talk::{ask, request, turn_from_line};

/// Returns sixty turns of equal length over two years.
fn diary() -> View {
    let days = (0..60).map(|at| {
        let (year, month, day) = (2023 + at / 30, 1 + at % 30 / 3, 1 + at % 3 * 9);
        let words = ["oak", "elm", "ash", "fir", "yam", "fig"];
        let (tree, other) = (words[at % 6], words[at / 6 % 6]);
        let time = format!("{year}-{month:02}-{day:02}T10:00:00Z");
        turn_from_line(
            at,
            &format!("{time}|Ines|I planted an {tree} and an {other} behind the house, row {at}."),
        )
    });
    View::from_units(days)
}

#[test]
fn no_line_that_fits_is_left_out() {
    let view = diary();
    for tokens in [128, 256, 512, 777] {
        let pack = ask(&view, &request("What did Ines plant behind the house?", tokens)).pack;
        let dearest = pack.items.iter().map(|it| it.tokens).max().unwrap();
        assert!(pack.tokens <= tokens);
        // Four tokens are reserved, and only the first line contains the year and the full name.
        assert!(pack.tokens + dearest + 4 >= tokens, "{} of {tokens}", pack.tokens);
        let sum: u32 = pack
            .items
            .iter()
            .map(|it| text::count_tokens(&it.text) as u32 + 1)
            .sum();
        assert_eq!(pack.tokens, sum);
    }
}
