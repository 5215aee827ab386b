//! Merges many new turns into an arrangement in one pass, without sorting the turns that are there.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use domain::id::SessionId;
use rustc_hash::FxHashMap;

use super::{Arrangement, in_session};
use crate::space::view::merge_order::{Origin, merge_column};
use crate::space::view::speakers::SpeakerNumbers;
use crate::space::view::turn::Turn;

/// A session with its new turns.
struct MergedSession {
    id: SessionId,
    begins_at: DateTime<FixedOffset>,
    /// Places of the turns that it had.
    former: Range<usize>,
    /// Numbers of its new turns, in order.
    new: Vec<u32>,
}

impl Arrangement {
    /// Puts new turns, which are sorted like turns of one session, at their places.
    pub(super) fn merge_turns(&mut self, new: &[&Arc<Turn>], numbers: &SpeakerNumbers<'_>) {
        let sessions = self.merge_sessions(new);
        let mut order = Vec::with_capacity(self.turns.len() + new.len());
        self.sessions.clear();
        self.session_of.clear();
        for (session, place) in sessions.iter().zip(0..) {
            let start = order.len();
            self.push_order(session, new, &mut order);
            self.sessions.push(start..order.len());
            self.session_of.resize(order.len(), place);
            self.session_places.insert(session.id, place);
        }
        self.scan_data.merge_turns(new, &order);
        let speakers: Vec<Option<u32>> = new.iter().map(|it| numbers.of_turn(it)).collect();
        self.speaker_of = merge_column(&self.speaker_of, &speakers, &order);
        self.replies = merge_column(&self.replies, &vec![false; new.len()], &order);
        self.move_turns(new, &order);
        for (origin, place) in order.iter().zip(0..) {
            if let Origin::New(_) = origin {
                self.update_replies(place);
            }
        }
    }

    /// Returns all sessions in order.
    fn merge_sessions(&self, new: &[&Arc<Turn>]) -> Vec<MergedSession> {
        let mut new_by_session: FxHashMap<SessionId, Vec<u32>> = FxHashMap::default();
        for (turn, number) in new.iter().zip(0..) {
            new_by_session.entry(turn.unit.session).or_default().push(number);
        }
        let mut sessions = Vec::with_capacity(self.sessions.len() + new_by_session.len());
        for former in &self.sessions {
            let first = &self.turns[former.start].unit;
            let new_turns = new_by_session.remove(&first.session).unwrap_or_default();
            let new_first = new_turns.first().map(|it| new[*it as usize].unit.observed_at);
            sessions.push(MergedSession {
                id: first.session,
                begins_at: new_first.map_or(first.observed_at, |it| it.min(first.observed_at)),
                former: former.clone(),
                new: new_turns,
            });
        }
        for (id, new_turns) in new_by_session {
            let Some(first) = new_turns.first() else { continue };
            sessions.push(MergedSession {
                id,
                begins_at: new[*first as usize].unit.observed_at,
                former: 0..0,
                new: new_turns,
            });
        }
        sessions.sort_by_key(|it| (it.begins_at, it.id));
        sessions
    }

    /// Adds the turns of a session in order.
    fn push_order(&self, session: &MergedSession, new: &[&Arc<Turn>], order: &mut Vec<Origin>) {
        let mut former = session.former.clone();
        for number in &session.new {
            let turn = new[*number as usize];
            let rest = &self.turns[former.clone()];
            let before = match rest.last().map(|it| in_session(it, turn)) {
                // Most new turns follow all others.
                None | Some(Ordering::Less) => rest.len(),
                Some(Ordering::Equal | Ordering::Greater) => {
                    rest.partition_point(|it| in_session(it, turn) == Ordering::Less)
                }
            };
            let end = former.start + before;
            order.extend((former.start..end).map(|it| Origin::Former(it as u32)));
            order.push(Origin::New(*number));
            former.start = end;
        }
        order.extend(former.map(|it| Origin::Former(it as u32)));
    }

    /// Moves the turns into an order, and updates their places.
    fn move_turns(&mut self, new: &[&Arc<Turn>], order: &[Origin]) {
        let mut former: Vec<Option<Arc<Turn>>> = std::mem::take(&mut self.turns).into_iter().map(Some).collect();
        let mut moved = vec![0_u32; former.len()];
        self.turns.reserve_exact(order.len());
        for (origin, place) in order.iter().zip(0..) {
            match origin {
                Origin::Former(at) => {
                    moved[*at as usize] = place;
                    self.turns.extend(former[*at as usize].take());
                }
                Origin::New(number) => self.turns.push(Arc::clone(new[*number as usize])),
            }
        }
        self.places.values_mut().for_each(|it| *it = moved[*it as usize]);
        let added = order.iter().zip(0..).filter_map(|(origin, place)| match origin {
            Origin::New(number) => Some((new[*number as usize].unit.id, place)),
            Origin::Former(_) => None,
        });
        self.places.extend(added);
    }
}
