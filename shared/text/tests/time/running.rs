//! Times in running text and their rendering; the reference is Thursday 15 June 2023, 14:30.

use text::time::{find_times, render_mention, render_span};

use crate::checks::{check, read, sent_at};

#[test]
fn past_times_in_sentences_are_read() {
    check(
        "
        I went to the beach yesterday with Ana. => yesterday = 14 June 2023
        We moved here three years ago, and I love it! => three years ago = 2020
        Last week I finally finished the quilt. => Last week = The week of 5 June 2023
        She called me last night around 10. => last night around 10 = 14 June 2023 at 10 pm
        They adopted a cat last month and a dog in March. => last month = May 2023; March = March 2023
        On Monday we had the interview. => Monday = 12 June 2023
        I saw Tom on Saturday morning. => Saturday morning = 10 June 2023
        Two weekends ago we hiked up the ridge. => Two weekends ago = The weekend of 3 June 2023
        My sister got married the summer before last. =>
        He left in the spring of 2019. => the spring of 2019 = spring 2019
        I was born on 3 May 1987 in Porto. => 3 May 1987 = 3 May 1987
        It happened on the 5th, right before lunch. => the 5th = 5 June 2023
        A couple of days earlier I saw the gardens. => A couple of days earlier = between 12 and 13 June 2023
        We left on 9 May 2022. A week earlier it had snowed. => 9 May 2022 = 9 May 2022; A week earlier = The week of 2 May 2022
        I went in 2020, 2021 and 2022. => 2020 = 2020; 2021 = 2021; 2022 = 2022
        We sailed in May, June, and August. => May = May 2023; June = June 2023; August = August 2022
        We met in the winter of 2020-2021. => the winter of 2020-2021 = winter 2020
        She left on Thursday the 8th. => Thursday the 8th = 8 June 2023
        A lot happened in the last month. => the last month = between May and June 2023
        I was told the talk is on July 3. => July 3 = 3 July 2023
        I booked the ferry for September. => September = September 2023
        We booked a table in March for my birthday. => March = March 2023
        She arranged the visit for the last week of October, and Dad fixed the boiler on Saturday. => the last week of October = between 25 and 31 October 2023; Saturday = 10 June 2023
        I met them on the 13th after my trip. => the 13th = 13 June 2023
        We met back in 2016 at a conference. => 2016 = 2016
        The shop opened August last year. => August last year = August 2022
        I've lived here since March 2020. => since March 2020 = since March 2020
        Two days before Christmas the heater broke. => Two days before Christmas = 22 December 2022
        The day after my exam we partied. =>
        It rained the week before last. => the week before last = The week of 29 May 2023
        The Friday before last was hectic. => The Friday before last = 2 June 2023
        I ran a half marathon on Sunday, June 4th. => Sunday, June 4th = 4 June 2023
        A couple of weeks ago she gave a talk. => A couple of weeks ago = between 22 May and 4 June 2023
        About a month ago I started pottery. => a month ago = May 2023
        We were there from May 3-5, 2022. => from May 3-5, 2022 = between 3 and 5 May 2022
        I worked there between May and July 2021. => between May and July 2021 = between May and July 2021
        Earlier this week my car died. => Earlier this week = between 12 and 14 June 2023
        In the past few months I read a lot. => the past few months = between January and June 2023
        Over the last two years I learned to sail. => the last two years = between 2021 and 2023
        This Christmas I cooked for eight. => This Christmas = between 24 and 26 December 2022
        This Christmas I will cook for eight. => This Christmas = between 24 and 26 December 2023
        On Christmas Eve we sang. => Christmas Eve = 24 December 2022
        Late last year the bakery closed. => Late last year = late 2022
        In the early 90s my dad drove a bus. => the early 90s = between 1990 and 1993
        This past weekend we painted the fence. => This past weekend = The weekend of 10 June 2023
        I spent the whole weekend scraping paint. => weekend = The weekend of 10 June 2023
        I haven't slept well since Thursday. => since Thursday = since 8 June 2023
        The server was down since yesterday noon. => since yesterday noon = since 14 June 2023 at 12 pm
        I finished school in 2012. The year after, I went abroad. => 2012 = 2012; The year after = 2013
        The exam was on 3 June 2022. Two days before, I fell ill. => 3 June 2022 = 3 June 2022; Two days before = 1 June 2022
        We launched at 11 in the morning. => 11 in the morning = 15 June 2023 at 11 am
        He was here in May. And June called. => May = May 2023
        2018. That was the year. => 2018 = 2018
        It was on Wednesday 8 June. => Wednesday 8 June = 8 June 2022
        Half an hour ago the power came back. => Half an hour ago = 15 June 2023 at 2 pm
        The first weekend of April was cold. => The first weekend of April = The weekend of 1 April 2023
        I felt great yesterday morning, but the afternoon was rough. => yesterday morning = 14 June 2023
        ",
    );
}

#[test]
fn future_times_in_sentences_are_read() {
    check(
        "
        I'll see you on Monday at noon. => Monday at noon = 19 June 2023 at 12 pm
        We're going to Rome in September. => September = September 2023
        The party will be next Saturday. => next Saturday = 24 June 2023
        Her recital is in two weeks. => in two weeks = The week of 26 June 2023
        I plan to quit by the end of the year. => the end of the year = late 2023
        Let's meet tomorrow at 5:15pm. => tomorrow at 5:15pm = 16 June 2023 at 5:15 pm
        The flight will leave at 6 am on July 2. => 6 am on July 2 = 2 July 2023 at 6 am
        My appointment is on the 3rd of next month. => the 3rd of next month = 3 July 2023
        We will have dinner Friday, 7:30 p.m. at Luigi's. => Friday, 7:30 p.m. = 16 June 2023 at 7:30 pm
        Dinner is at 7 tonight. => 7 tonight = 15 June 2023 at 7 pm
        They will marry in the fall. => the fall = autumn 2023
        The week after next I will be away. => The week after next = The week of 26 June 2023
        A week from Friday we will fly home. => A week from Friday = The week of 19 June 2023
        My lease will end on the 30th. => the 30th = 30 June 2023
        Her last day is the 29th. => the 29th = 29 June 2023
        We will be away from the 20th, I think. => the 20th = 20 June 2023
        The view will be best from the 5th floor. =>
        I will rent the boat till May 7 because of the fair. => May 7 = 7 May 2024
        Our floor is the 2nd. =>
        Three days from now the show will open. => Three days from now = 18 June 2023
        The course will run from Monday to Wednesday. => from Monday to Wednesday = between 19 and 21 June 2023
        We will be closed December 24-26. => December 24-26 = between 24 and 26 December 2023
        The call is Friday from 3 to 4:30 pm. => Friday from 3 to 4:30 pm = 16 June 2023 from 3 pm to 4:30 pm
        This weekend I'm planning a barbecue. => This weekend = The weekend of 17 June 2023
        Monday next week works for me. => Monday next week = 19 June 2023
        On the morning of July 4th we will set out. => the morning of July 4th = 4 July 2023
        Within the next three weeks I will know. => the next three weeks = between 15 June and 6 July 2023
        Thanksgiving 2023 will be at our place. => Thanksgiving 2023 = 23 November 2023
        ",
    );
}

#[test]
fn dates_and_times_in_digits_are_read() {
    check(
        "
        Due 2024-02-29, not 2023-02-29. => 2024-02-29 = 29 February 2024
        Log: 2023-06-09T15:30:00Z started => 2023-06-09T15:30:00Z = 9 June 2023 at 5:30 pm
        Log: 2023-06-09T15:30:00+02:00 started => 2023-06-09T15:30:00+02:00 = 9 June 2023 at 3:30 pm
        Invoice of 24.12.2022 is open. => 24.12.2022 = 24 December 2022
        Seen on 31/12/2022 and 12/31/2022. => 31/12/2022 = 31 December 2022; 12/31/2022 = 31 December 2022
        Report for 2023-05: fine => 2023-05 = May 2023
        We plan for Q3 2024. => Q3 2024 = between July and September 2024
        the class of summer '22 => summer '22 = summer 2022
        She wrote it on the twenty-first of March, 2021. => the twenty-first of March, 2021 = 21 March 2021
        Sept. 5, 2022 was a Monday. => Sept. 5, 2022 = 5 September 2022
        the second half of 2022 => the second half of 2022 = between July and December 2022
        the last Friday in May => the last Friday in May = 26 May 2023
        half past seven tomorrow => half past seven tomorrow = 16 June 2023 at 7:30 pm
        the 1960s and the '80s => the 1960s = the 1960s; the '80s = the 1980s
        2.5 years ago => 2.5 years ago = between November 2020 and January 2021
        I studied there 2015-2019. => 2015-2019 = between 2015 and 2019
        ",
    );
}

#[test]
fn lengths_and_vague_times_keep_their_words() {
    check(
        "
        I waited for two hours. => two hours = two hours
        We have been married for five years. => five years = five years
        The course took a year and a half. => a year and a half = a year and a half
        I saw her the other day. => the other day = the other day
        I recently switched jobs. => recently = recently
        It broke a while ago. => a while ago = a while ago
        Years ago I smoked. => Years ago = Years ago
        ",
    );
}

#[test]
fn words_that_name_no_time_are_left_out() {
    let texts = [
        "You may want to march on and sit down.",
        "May I ask a second thing? The second point may matter.",
        "The sun sat low; he sat on the fence.",
        "5 people saw 3 dogs and 2000 people cheered in 12 houses.",
        "Call 555-123-4567 or +1 (212) 555-0187.",
        "It costs $2022, or 1,999.50 in all, 15% off.",
        "Upgrade from 1.2.3 to 1.2.4; the address is 10.12.20.23.",
        "April and June came along; August called May.",
        "At most a third may go into this; you have to come one day. He paid 2000.",
        "It captures the Christmas magic, a Halloween mask and a Friday feeling.",
        "I go swimming every Friday and each summer.",
        "She is 30 years old, he is a 5-year-old.",
        "Give me a second, just a minute.",
        "They march in protest. We spring into action and fall asleep.",
        "That was the last straw; next time, this one.",
        "Room 1203, page 45, chapter 7, score 3:2.",
        "He ran 1900 miles on route 66.",
        "We meet twice a week.",
        "Mars is red, and hierarchies differ.",
        "On Mondays I rest.",
        "It is 24/7 open.",
        "the 5th floor and the 21st century fox",
    ];
    for text in texts {
        assert_eq!(read(text), "", "{text}");
    }
}

/// In a report about the past, and in a sentence without a verb after it, a weekday alone is in the past.
#[test]
fn weekdays_follow_the_tense_of_the_verb() {
    check(
        "
        The old dog died on Monday. => Monday = 12 June 2023
        On Tuesday he sat down and wept. => Tuesday = 13 June 2023
        Gone on Wednesday, a dentist took it. => Wednesday = 14 June 2023
        She stood up! On Sunday, right through to the sand. => Sunday = 11 June 2023
        I did! Saturday in Porto with my sister. => Saturday = 10 June 2023
        I loved it! See you Friday. => Friday = 16 June 2023
        I loved it! Friday again? => Friday = 16 June 2023
        We're so excited for Saturday. => Saturday = 17 June 2023
        We need milk on Saturday. => Saturday = 17 June 2023
        I agreed on Monday. => Monday = 12 June 2023
        ",
    );
}

/// The day of a booked, postponed or starting event lies in the future, regardless of the tense of the other verbs.
#[test]
fn booked_postponed_and_starting_events_lie_in_the_future() {
    check(
        "
        Signed up for the lake marathon on April 20. => April 20 = 20 April 2024
        She registered for the harbour race on Saturday. => Saturday = 17 June 2023
        I got the place at the archive!! Starting 1 February => 1 February = 1 February 2024
        It's a girl! Due in January. => January = January 2024
        Got tickets for the opera on March 9. => March 9 = 9 March 2024
        Loved it! Tickets for the sequel in February. => February = February 2024
        I finally got an appointment on Friday at 8:15. => Friday at 8:15 = 16 June 2023 at 8:15 am
        The deadline was extended to February 2. => February 2 = 2 February 2024
        Choir practice moved to Tuesday. => Tuesday = 20 June 2023
        They put off the vote until March. => March = March 2024
        We were invited to a wedding in May. => May = May 2024
        My licence expires in March. => March = March 2024
        I passed, the course starts in January. => January = January 2024
        Signed the lease, we get the flat on Monday. => Monday = 19 June 2023
        We packed everything, we're flying home on Sunday. => Sunday = 18 June 2023
        Probably February. => February = February 2024
        They gave me the post! The night ward, from February. => February = February 2024
        The pool had a leak and is closed until March. => March = March 2024
        They shuffled us again, I start on Friday the 23rd now. => Friday the 23rd = 23 June 2023
        the boiler died again, repair guy comes friday at 4 => friday at 4 = 16 June 2023 at 4 pm
        I tidied the flat, my aunt visits on Sunday. => Sunday = 18 June 2023
        He packed his bags and flies on Saturday. => Saturday = 17 June 2023
        We packed everything, they have their exam on March 9. => March 9 = 9 March 2024
        ",
    );
}

#[test]
fn past_events_lie_in_the_past() {
    check(
        "
        I went to the concert on March 9. => March 9 = 9 March 2023
        We moved to Lyon in February. => February = February 2023
        I signed up for the gym in February. => February = February 2023
        My appointment on Monday went fine. => Monday = 12 June 2023
        I had tickets for the match on April 2. => April 2 = 2 April 2023
        I sold the tickets on Monday. => Monday = 12 June 2023
        The essay was due in February. => February = February 2023
        He raked leaves on Monday. => Monday = 12 June 2023
        Did you get the parcel I sent on Monday? => Monday = 12 June 2023
        They were starting school in February. => February = February 2023
        He sent a card! A photo from February. => February = February 2023
        We met in town. Probably Monday. => Monday = 12 June 2023
        The guy who comes for the bins was ill on Monday. => Monday = 12 June 2023
        I counted his visits on Monday. => Monday = 12 June 2023
        ",
    );
}

/// A past verb does not date a later clause about the present or the future. An ambiguous day or month keeps its words.
#[test]
fn a_clause_after_a_past_verb_may_be_about_the_present_or_future() {
    check(
        "
        mom called, dinner is friday => friday = 16 June 2023
        ordered the couch, delivery's monday => monday = 19 June 2023
        anna texted me, she's free sunday => sunday = 18 June 2023
        dad had surgery, he gets out monday => monday = 19 June 2023
        the vet said he needs shots, appointment is tuesday at 9 => tuesday at 9 = 20 June 2023 at 9 am
        he said he can do monday => monday = 19 June 2023
        Ran into Tom, his show is on Friday. => Friday = 16 June 2023
        exam went ok, results friday => friday = friday
        I slept badly, long shift monday at 9 => monday at 9 = monday at 9
        bought a car, picking it up on saturday => saturday = saturday
        we broke up. moving out sunday => sunday = sunday
        got the job!! first day monday => monday = monday
        sold the old car to marek yesterday, new one in august => yesterday = 14 June 2023; august = august
        ordered the couch, delivery is in august => august = August 2023
        Letter from the hospital came. The new hip is on the 24th of September at the clinic. => the 24th of September = 24 September 2023
        Paid. Whitlow, 26 August to 2 September. => 26 August to 2 September = between 26 August and 2 September 2023
        Well done Mum. Keir, results on the 20th. => the 20th = 20 June 2023
        Got a B in chem. so its bangor. move in 20 sept => 20 sept = 20 September 2023
        I asked again on Friday. Keys in August, if the solicitor stays alive. => Friday = 9 June 2023; August = August
        i got the post!! no more nights from 1 sept => 1 sept = 1 September 2023
        landlord says mould gets done in sept => sept = September 2023
        The rabbit is gone. He says no rent increase in October, because of Ida, who told him off. => October = October 2023
        ",
    );
}

#[test]
fn a_clause_that_continues_a_past_clause_is_dated_in_the_past() {
    check(
        "
        We hiked on Saturday and Sunday. => Saturday = 10 June 2023; Sunday = 11 June 2023
        I was ill, so on Monday I stayed home. => Monday = 12 June 2023
        We bought apples, pears and plums on Friday. => Friday = 9 June 2023
        Had a great weekend, beach on saturday. => saturday = 10 June 2023
        My uncle, who is a baker, came on Monday. => Monday = 12 June 2023
        I couldn't sleep on Sunday. => Sunday = 11 June 2023
        I didn't sleep on Sunday. => Sunday = 11 June 2023
        She laughed, last Monday that is. => last Monday = 12 June 2023
        I got it done, next Friday is free. => next Friday = 23 June 2023
        We went to Rome in April, Porto in May. => April = April 2023; May = May 2023
        sold the old car yesterday, new one in february => yesterday = 14 June 2023; february = February 2023
        The rent went up in May, and again in September. => May = May 2023; September = September 2022
        ",
    );
}

/// A past event has no date after its message; the time of something said, settled or given may lie in the future.
#[test]
fn a_past_event_never_lies_in_the_future() {
    check(
        "
        Born on Tuesday, 3.2 kg. => Tuesday = 13 June 2023
        Our daughter Ida, born on Friday! => Friday = 9 June 2023
        The baby will be born on Friday. => Friday = 16 June 2023
        Left on Friday. => Friday = 9 June 2023
        Moved in on Monday. => Monday = 12 June 2023
        Seen on Friday: one heron. => Friday = 9 June 2023
        Quit on Friday, slept all day. => Friday = 9 June 2023
        I will be seen on Friday. => Friday = 16 June 2023
        Born on June 20. => June 20 = 20 June 2022
        I moved out on June 20. => June 20 = 20 June 2022
        I was told to come on June 20. => June 20 = 20 June 2023
        We agreed on June 20. => June 20 = 20 June 2023
        Moved in on the 20th. => the 20th = 20 May 2023
        i got the job at the aquarium!! start on the 19th => the 19th = 19 June 2023
        I got the job, starts on the 19th. => the 19th = 19 June 2023
        I got the job and started on the 9th. => the 9th = 9 June 2023
        Moved in September. => September = September 2022
        This December I moved. => This December = December 2022
        This December I will move. => This December = December 2023
        This autumn I moved. => This autumn = autumn 2022
        ",
    );
}

#[test]
fn answers_keep_the_form_of_the_words() {
    let answer = |text: &str| {
        let mentions = find_times(text, sent_at());
        let rendered = mentions.iter().map(|m| render_mention(&m.span, sent_at()));
        rendered.collect::<Vec<_>>().join("; ")
    };
    let cases = [
        ("We hiked last week.", "The week before 15 June 2023"),
        ("We hiked last weekend.", "The weekend before 15 June 2023"),
        ("We hiked last Friday.", "The Friday before 15 June 2023"),
        ("We hiked on Monday.", "12 June 2023"),
        ("We hiked two weekends ago.", "two weekends before 15 June 2023"),
        ("We hiked two weeks ago.", "two weeks before 15 June 2023"),
        ("We hiked a week ago.", "The week before 15 June 2023"),
        ("We hiked two Fridays ago.", "2 June 2023"),
        ("We hiked a few days ago.", "a few days before 15 June 2023"),
        ("We hiked a few years ago.", "a few years before 2023"),
        ("We hiked the other day.", "a few days before 15 June 2023"),
        ("We hiked yesterday.", "14 June 2023"),
        ("I joined last Tues.", "The Tuesday before 15 June 2023"),
        ("We hiked this week.", "The week of 15 June 2023"),
        ("We hiked last month.", "May 2023"),
        ("We hiked three months ago.", "March 2023"),
        ("We hiked last year.", "2022"),
        ("We hiked last summer.", "summer 2022"),
        ("We hiked on 3 May 2021.", "3 May 2021"),
        ("We will hike next week.", "The week after 15 June 2023"),
        ("We will hike next month.", "July 2023"),
        ("We will hike tomorrow.", "16 June 2023"),
        ("We hiked for three hours.", "three hours"),
    ];
    for (text, want) in cases {
        assert_eq!(answer(text), want, "{text}");
    }
    let record = domain::time::TimeSpan::from_instant(sent_at().to_utc());
    assert_eq!(render_span(&record, *sent_at().offset()), "15 June 2023");
}
