//! Whether the year of a time was said or inferred; the reference is Thursday 15 June 2023, 14:30.

use domain::time::Precision;
use text::time::find_times;

use crate::checks::{check, sent_at};

#[test]
fn a_mention_says_whether_its_year_is_inferred() {
    let inferred = |text: &str| -> Vec<bool> {
        find_times(text, sent_at())
            .iter()
            .map(|it| it.is_year_inferred)
            .collect()
    };
    for (text, expected) in [
        ("We had the letter on the 24th of October.", &[true][..]),
        ("They moved in March.", &[true]),
        ("Wir fliegen am 9. Juni.", &[true]),
        ("from June 1 to June 5", &[true]),
        ("We had the letter on 24 October 2022.", &[false]),
        ("The shop opened August last year.", &[false]),
        ("We sailed in 2022 and in May.", &[false, true]),
        ("I went to the beach yesterday, and last week too.", &[false, false]),
    ] {
        assert_eq!(inferred(text), expected, "{text}");
    }
}

#[test]
fn a_month_after_till_has_no_year_in_a_clause_without_a_tense() {
    let precisions =
        |text: &str| -> Vec<Precision> { find_times(text, sent_at()).iter().map(|it| it.span.precision).collect() };
    let agreed = "We agreed with her: the old one stays till november, then we look again.";
    assert_eq!(precisions(agreed), [Precision::Unknown]);
    assert_eq!(precisions("The old one stayed till november."), [Precision::Month]);
}

#[test]
fn a_date_after_a_coming_or_settled_event_lies_ahead() {
    check(
        "
        We're getting married, January 20. => January 20 = 20 January 2024
        We were getting married, January 20. => January 20 = 20 January 2023
        The wedding is set, February 3. => February 3 = 3 February 2024
        The wedding was set, February 3. => February 3 = 3 February 2023
        The retest is booked: 3 February. => 3 February = 3 February 2024
        ",
    );
}

#[test]
fn a_day_of_the_month_after_a_present_form_of_be_lies_ahead() {
    check(
        "
        The exam is on the 9th. => the 9th = 9 July 2023
        I passed the theory, the driving test is on the 9th. => the 9th = 9 July 2023
        Her last day is the 9th. => the 9th = 9 July 2023
        The exam was on the 9th. => the 9th = 9 June 2023
        I met them on the 9th. => the 9th = 9 June 2023
        ",
    );
}

#[test]
fn a_verb_in_the_present_that_is_joined_to_a_past_verb_leads_to_the_next_such_day() {
    check(
        "
        I gave in my notice on Monday and start the new job on 1 February. => Monday = 12 June 2023; 1 February = 1 February 2024
        She handed in her notice and starts the new job in March. => March = March 2024
        We sold the flat on Monday and move to Oslo on 3 February. => Monday = 12 June 2023; 3 February = 3 February 2024
        I passed the exam yesterday, and fly home on 3 February. => yesterday = 14 June 2023; 3 February = 3 February 2024
        I got the job but start on 1 February. => 1 February = 1 February 2024
        I packed and leave on Friday. => Friday = 16 June 2023
        I packed and left the flat on 3 February. => 3 February = 3 February 2023
        I had to pack and leave the flat on 3 February. => 3 February = 3 February 2023
        I helped her pack and move the piano on 3 February. => 3 February = 3 February 2023
        We watched the ship arrive and leave the harbour on 3 February. => 3 February = 3 February 2023
        I enjoyed the ferry and drive on 3 February. => 3 February = 3 February 2023
        Did you pack and leave the office on 3 February? => 3 February = 3 February 2023
        ",
    );
}

#[test]
fn a_later_day_of_the_month_is_in_the_month_that_its_sentence_named_before() {
    check(
        "
        We fly out on 7 September, back on the 21st. => 7 September = 7 September 2023; the 21st = 21 September 2023
        I met her on 7 March and again on the 21st. => 7 March = 7 March 2023; the 21st = 21 March 2023
        The test was on 7 March, the result is on the 21st. => 7 March = 7 March 2023; the 21st = 21 June 2023
        The test was on 7 March; I must pay by the 21st. => 7 March = 7 March 2023; the 21st = 21 June 2023
        It rained on 7 March. We leave on the 21st. => 7 March = 7 March 2023; the 21st = 21 June 2023
        ",
    );
}
