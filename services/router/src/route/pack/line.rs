//! One line of a pack: a part of a turn or a whole gist, and its cost.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};

use domain::unit::Grain;

use super::display::{Display, Labels, header_tokens};
use super::{Choice, Key};
use crate::route::Scored;
use crate::route::query::Query;
use crate::space::view::Turn;

/// Tokens that are added to the cost of every line, so that the shortest lines are not by far the cheapest.
const BASE: f32 = 4.0;

pub(super) struct Line<'a> {
    pub(super) key: Key,
    /// The turn or gist that the line shows.
    pub(super) turn: &'a Turn,
    pub(super) scored: &'a Scored,
    /// The speaker in the label; empty for a gist, whose text contains the names.
    pub(super) actor: &'a str,
    /// Positions of the turns that the line shows, or that the gist was read from.
    pub(super) turns: Vec<usize>,
    pub(super) display: Display,
    /// Tokens without the header of the day.
    pub(super) price: u32,
    /// Stems that the line shows, sorted and without duplicates.
    pub(super) words: Vec<u32>,
    pub(super) day: NaiveDate,
    /// Position among the units that were selected to hold the answer, if the unit is one of them.
    pub(super) chosen: Option<usize>,
    /// Decisions of a person about the statements of the unit; usually empty.
    pub(super) note: String,
    /// True if the line did not fit into the step of the budget that is being filled.
    pub(super) is_set_aside: bool,
    query: &'a Query,
    /// Tokens of the header of the day, without and with the year.
    header: [u32; 2],
    /// Tokens of the header that the line would need among the lines chosen so far.
    header_now: u32,
    /// The display that the line gets when there is room, if it shows less now.
    full: Option<Display>,
    /// Logarithm of the probability of the unit.
    log_probability: f32,
}

impl<'a> Line<'a> {
    pub(super) fn from_unit(choice: &Choice<'a>, labels: &Labels, key: Key) -> Line<'a> {
        let (turn, scored) = (choice.unit_of_key(key), choice.scored_unit(key));
        let query = choice.list_of_grain(key.grain).query;
        let (actor, display) = match key.grain {
            Grain::Gist => ("", Display::from_all_sentences(turn)),
            Grain::Turn | Grain::Event => (
                &*turn.unit.actor,
                Display::from_best_sentences(query, turn, scored.probability),
            ),
        };
        let day = turn.unit.observed_at.date_naive();
        let header = header_tokens(day);
        Line {
            key,
            turn,
            scored,
            actor,
            turns: choice.turns_of(key),
            price: labels.price_of_short_form(actor) + display.tokens + 1,
            words: shown_stems(&display, turn),
            display,
            header_now: header[1],
            header,
            day,
            chosen: None,
            note: String::new(),
            is_set_aside: false,
            query,
            full: None,
            log_probability: scored.probability.max(1e-30).ln(),
        }
    }

    /// Returns the position in the order of choice: selected units in their order, then all others.
    pub(super) fn choice_order(&self) -> usize {
        self.chosen.unwrap_or(usize::MAX)
    }

    /// Appends a note to the text.
    pub(super) fn append_note(&mut self, note: String) {
        if !note.is_empty() {
            self.price += text::count_tokens(&note) as u32;
            self.note = note;
        }
    }

    /// Returns the most relevant sentences for the question that cost at most `room` tokens; `None` if even the best
    /// one does not fit. A gist is shown whole or not at all.
    pub(super) fn fit_part(&self, room: u32) -> Option<Display> {
        match self.key.grain {
            Grain::Gist => None,
            Grain::Turn | Grain::Event => self.display.fit_part(self.query, self.turn, room),
        }
    }

    /// Shows less of the turn until there is room for the rest.
    pub(super) fn clip_to_display(&mut self, display: Display) {
        let full = self.replace_display(display);
        self.full = Some(full);
    }

    /// Returns true if the line shows less than its full display.
    pub(super) fn is_clipped(&self) -> bool {
        self.full.is_some()
    }

    /// Shows the full display. Returns the previous display if that showed less.
    pub(super) fn restore_full_display(&mut self) -> Option<Display> {
        let full = self.full.take()?;
        Some(self.replace_display(full))
    }

    fn replace_display(&mut self, display: Display) -> Display {
        self.price = self.price - self.display.tokens + display.tokens;
        self.words = shown_stems(&display, self.turn);
        std::mem::replace(&mut self.display, display)
    }

    /// Returns the exact tokens of the line under a label, without a header.
    pub(super) fn shown_tokens(&self, label: &str) -> u32 {
        text::count_tokens(&format!("{label}{}{}", self.display.text(self.turn), self.note)) as u32 + 1
    }

    /// Returns roughly the tokens that the line adds to a pack with lines of these days.
    pub(super) fn cost_with_header(&self, days: &BTreeSet<NaiveDate>) -> u32 {
        self.price + self.header_cost(days)
    }

    /// Returns the tokens that the header of the day adds to a pack with lines of these days.
    pub(super) fn header_cost(&self, days: &BTreeSet<NaiveDate>) -> u32 {
        let [day, day_and_year] = self.header;
        if days.contains(&self.day) {
            0
        } else if days.iter().any(|it| it.year() == self.day.year()) {
            day
        } else {
            day_and_year
        }
    }

    /// Updates the cost of the header for a pack with lines of these days.
    pub(super) fn update_header_cost(&mut self, days: &BTreeSet<NaiveDate>) {
        self.header_now = self.header_cost(days);
    }

    /// Returns the logarithm of the probability divided by the price.
    pub(super) fn log_probability_per_token(&self) -> f32 {
        self.log_probability - ((self.price + self.header_now) as f32 + BASE).ln()
    }
}

/// Returns the stems that a line shows, sorted and without duplicates.
fn shown_stems(display: &Display, turn: &Turn) -> Vec<u32> {
    let sentences = display.sentences.iter().map(|it| turn.sentence_at(*it));
    let mut words: Vec<u32> = sentences.flat_map(|it| it.words.iter().copied()).collect();
    words.sort_unstable();
    words.dedup();
    words
}
