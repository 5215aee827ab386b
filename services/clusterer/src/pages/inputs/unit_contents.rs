//! The contents of one unit, packed: every unit of a space has them as long as it exists.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use domain::id::UnitId;
use domain::unit::{Grain, Unit};
use serde::{Deserialize, Serialize};

use crate::pages::inputs::buckets::bucket::{Month, Rank};
use crate::pages::inputs::lines::Spoken;
use crate::space::symbols::Symbol;

/// The names of a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnitNames {
    /// The names that the unit is about; at most 255.
    pub(crate) names: Vec<Symbol>,
    /// The addressee: related to the names, but not a subject of the unit.
    pub(crate) addressee: Option<Symbol>,
    pub(crate) reasons: Vec<Reason>,
}

/// Two names in a sentence that gives a reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reason {
    pub(crate) effect: Symbol,
    pub(crate) cause: Symbol,
}

/// The contents of one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UnitContents {
    pub(crate) id: UnitId,
    pub(crate) at: DateTime<Utc>,
    /// Set for event units only.
    pub(crate) month: Option<Month>,
    /// Number of records of the unit.
    pub(crate) records: u32,
    /// Score of the line, or 0 if there is none.
    score: u32,
    /// Length of the line in bytes, or 0 if there is none.
    line_bytes: u32,
    name_count: u8,
    has_addressee: bool,
    /// The line, then the symbols of the names, of the addressee, and of the effect and cause of each reason. They
    /// share an allocation, since most units have two or three names.
    packed: Box<[u8]>,
}

impl UnitContents {
    /// Returns the contents of a unit with this line and these names.
    pub(crate) fn from_unit(unit: &Unit, spoken: Option<&Spoken>, of_unit: &UnitNames) -> UnitContents {
        let is_event = unit.grain == Grain::Event;
        let line = spoken.map_or("", |it| &*it.text);
        let effects_and_causes = of_unit.reasons.iter().flat_map(|it| [it.effect, it.cause]);
        let names = of_unit.names.iter().copied();
        let symbols = names.chain(of_unit.addressee).chain(effects_and_causes);
        UnitContents {
            id: unit.id,
            at: unit.observed_at.to_utc(),
            month: is_event.then(|| Month::from_date(&unit.observed_at)),
            records: u32::try_from(unit.records.len()).unwrap_or(u32::MAX),
            score: spoken.map_or(0, |it| it.score),
            // A line has at most a few hundred bytes.
            line_bytes: u32::try_from(line.len()).unwrap_or_default(),
            name_count: u8::try_from(of_unit.names.len()).unwrap_or(u8::MAX),
            has_addressee: of_unit.addressee.is_some(),
            packed: line.bytes().chain(symbols.flat_map(Symbol::to_bytes)).collect(),
        }
    }

    /// Returns the line that represents the unit on a page, if it has one.
    pub(crate) fn line(&self) -> Option<&str> {
        let line = std::str::from_utf8(&self.packed[..self.line_bytes as usize]).ok();
        line.filter(|it| !it.is_empty())
    }

    /// Returns the rank of the line, or none if the unit has no line.
    pub(crate) fn rank(&self) -> Option<Rank> {
        (self.line_bytes > 0).then_some((Reverse(self.score), self.at, self.id))
    }

    /// Returns the names that the unit is about.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.symbols().take(usize::from(self.name_count))
    }

    pub(crate) fn addressee(&self) -> Option<Symbol> {
        let after_names = self.symbols().nth(usize::from(self.name_count));
        after_names.filter(|_| self.has_addressee)
    }

    pub(crate) fn reasons(&self) -> impl Iterator<Item = Reason> {
        let before = usize::from(self.name_count) + usize::from(self.has_addressee);
        let mut symbols = self.symbols().skip(before);
        std::iter::from_fn(move || {
            Some(Reason {
                effect: symbols.next()?,
                cause: symbols.next()?,
            })
        })
    }

    fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let (symbols, _) = self.packed[self.line_bytes as usize..].as_chunks::<4>();
        symbols.iter().copied().map(Symbol::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgements::example::sample_event;
    use crate::space::symbols::Symbols;

    #[test]
    fn names_and_line_are_unpacked_as_they_were() {
        let unit = sample_event(1, "");
        let without_any = UnitContents::from_unit(&unit, None, &UnitNames::default());
        let mut symbols = Symbols::default();
        let [ann, bea, cem] = ["Ann", "Bea", "Cem"].map(|it| symbols.intern(it));
        let spoken = Spoken {
            score: 7,
            text: "Zoë: Öl ist teuer\u{2026}".into(),
        };
        let because = |effect, cause| Reason { effect, cause };
        let all_names = [vec![], vec![ann], vec![cem, ann, bea]];
        let all_reasons = [
            vec![],
            vec![because(ann, cem)],
            vec![because(bea, ann), because(ann, cem)],
        ];
        for spoken in [None, Some(&spoken)] {
            for names in &all_names {
                for addressee in [None, Some(bea)] {
                    for reasons in &all_reasons {
                        let of_unit = UnitNames {
                            names: names.clone(),
                            addressee,
                            reasons: reasons.clone(),
                        };
                        let packed = UnitContents::from_unit(&unit, spoken, &of_unit);
                        let unpacked = UnitNames {
                            names: packed.names().collect(),
                            addressee: packed.addressee(),
                            reasons: packed.reasons().collect(),
                        };
                        assert_eq!(unpacked, of_unit);
                        assert_eq!(packed.line(), spoken.map(|it| &*it.text));
                        let rank = spoken.map(|it| (Reverse(it.score), unit.observed_at.to_utc(), unit.id));
                        assert_eq!(packed.rank(), rank);
                        let is_empty = spoken.is_none() && of_unit == UnitNames::default();
                        assert_eq!(packed == without_any, is_empty);
                    }
                }
            }
        }
    }
}
