//! Words near a time that make it another time or none; the reference is Thursday 15 June 2023, 14:30.

use crate::checks::check;

#[test]
fn the_days_and_hours_of_a_habit_are_left_out() {
    check(
        "
        I go swimming every Monday and Thursday. =>
        I run every Mon, Wed and Fri. =>
        We hiked every Monday, and on Thursday we rested. => Thursday = 8 June 2023
        I have yoga on Tuesdays at 7pm. =>
        I take my pills every day at 8 am. =>
        The shop is open every day from 9am to 5pm. =>
        I usually get up at 6 am. =>
        The pool is usually closed at 8 pm. =>
        We run every weekday at 6 am. =>
        I slept well and had coffee at 8 am. => 8 am = 15 June 2023 at 8 am
        I met Ben at 9 am and we never stopped talking. => 9 am = 15 June 2023 at 9 am
        Each team presents at 3 pm. => 3 pm = 15 June 2023 at 3 pm
        Ben is always late, so come at 9 am. => 9 am = 15 June 2023 at 9 am
        ",
    );
}

#[test]
fn an_age_is_no_decade_and_a_decade_of_the_past_is_over() {
    check(
        "
        I'm in my late 30s. =>
        She is in her mid-40s. =>
        She danced in the late 60s. => the late 60s = between 1966 and 1969
        Grandpa was born in the thirties. => the thirties = the 1930s
        My brother plays his early 90s records. => early 90s = between 1990 and 1993
        ",
    );
}

/// An hour after the message is that of no past event.
#[test]
fn a_past_event_has_no_later_hour() {
    check(
        "
        I went to bed at 11pm. =>
        I fell asleep at midnight. =>
        I woke up at 7:45. =>
        We launched at 9 am. => 9 am = 15 June 2023 at 9 am
        He told me to come at 6 pm. => 6 pm = 15 June 2023 at 6 pm
        Ben suggested dinner at 8 pm. => 8 pm = 15 June 2023 at 8 pm
        She added a meeting at 4 pm. => 4 pm = 15 June 2023 at 4 pm
        Mom called, dinner is at 8 pm. => 8 pm = 15 June 2023 at 8 pm
        ",
    );
}

#[test]
fn a_past_event_has_no_later_day() {
    check(
        "
        We got married June 20. => June 20 = 20 June 2022
        He died the 3rd of July. => the 3rd of July = 3 July 2022
        She studied for the June 20 exam. => June 20 = 20 June 2023
        Ben suggested July 3. => July 3 = 3 July 2023
        We talked about July 3. => July 3 = 3 July 2023
        We talked yesterday about July 3. => yesterday = 14 June 2023; July 3 = 3 July 2023
        I paid rent through June 30. => June 30 = 30 June 2023
        She resigned effective June 30. => June 30 = 30 June 2023
        ",
    );
}

/// The year in which a speaker was born is not the last one.
#[test]
fn the_birthday_of_a_speaker_has_no_inferred_year() {
    check(
        "
        I was born on July 4. => July 4 = July 4
        We were born in May. => May = May
        My niece was born on May 4. => May 4 = 4 May 2023
        ",
    );
}

#[test]
fn a_length_in_which_something_has_not_happened_is_no_time() {
    check(
        "
        I haven't seen my brother in two years. => two years = two years
        I've not seen my brother's dog in two years. => two years = two years
        I haven't told my mum we're moving in two weeks. => in two weeks = The week of 26 June 2023
        I have not packed, but it starts in two weeks. => in two weeks = The week of 26 June 2023
        ",
    );
}

#[test]
fn the_parts_of_a_length_are_added() {
    check(
        "
        I moved here a year and two months ago. => a year and two months ago = April 2022
        The bus left two hours and 15 minutes ago. => two hours and 15 minutes ago = 15 June 2023 at 12:15 pm
        I joined two-and-a-half years ago. => two-and-a-half years ago = between November 2020 and January 2021
        I was there last year and two months ago. => last year = 2022; two months ago = April 2023
        ",
    );
}
