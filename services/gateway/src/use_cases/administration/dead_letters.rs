//! Dead letters as a key sees them. Their numbers and positions count across all spaces. So a key that opens only some
//! spaces gets sealed names instead, and reads for it never touch dead letters of other spaces.

use std::fmt;
use std::str::FromStr;

use domain::id::SpaceId;
use domain::message::{Message, UnitsOrganisedV1, UnitsWrittenV1};
use domain::port::DeadLetterId;
use serde_json::{Map, Value};

use crate::api::DeadLetter;
use crate::api::problem::Problem;
use crate::app::config::Right;
use crate::app::keys::access::Access;
use crate::app::opened_spaces;
use crate::app::seal::Sealer;
use crate::app::seal::dead_letter_names::{ABOUT, seal_name};
use crate::app::state::App;
use crate::use_cases::lists::list_page::Filling;

/// Number of dead letters read at once: each may be as long as a batch.
const LOOK: usize = 16;
/// Maximum number of spaces of the key examined for one page.
const SPACES_MAX: usize = 100;
/// An id after every dead letter of a space: stores count in signed integers.
const BEHIND_ALL: DeadLetterId = i64::MAX.unsigned_abs();

/// Start of a page of dead letters: after a dead letter of all spaces, or of one space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeadLetterCursor {
    space: Option<SpaceId>,
    after: DeadLetterId,
}

impl fmt::Display for DeadLetterCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = self.space.as_ref().map(SpaceId::as_str).unwrap_or_default();
        write!(f, "{} {space}", self.after)
    }
}

impl FromStr for DeadLetterCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<DeadLetterCursor, ()> {
        let (after, space) = text.split_once(' ').ok_or(())?;
        let space = Some(space).filter(|it| !it.is_empty());
        Ok(DeadLetterCursor {
            space: space.map(str::parse).transpose().map_err(|_| ())?,
            after: after.parse().map_err(|_| ())?,
        })
    }
}

/// Returns a page of the dead letters that a key sees, and the start of the next page: by number if the key sees all,
/// else space by space.
pub(crate) async fn list_dead_letters(
    app: &App,
    access: &Access,
    place: DeadLetterCursor,
    limit: usize,
) -> Result<(Vec<DeadLetter>, Option<DeadLetterCursor>), Problem> {
    let mut page = Filling::new(limit);
    if access.opens_all() {
        let next = fill_page(app, access, &mut page, None, place.after).await?;
        return Ok((page.items, next));
    }
    let mut last = place.space;
    if let Some(space) = last.as_ref().filter(|_| place.after < BEHIND_ALL)
        && let Some(next) = fill_page(app, access, &mut page, Some(space), place.after).await?
    {
        return Ok((page.items, Some(next)));
    }
    let spaces = opened_spaces::spaces_under(app, access, "", last.as_ref(), SPACES_MAX).await?;
    let ended = spaces.len() < SPACES_MAX;
    for info in spaces {
        if let Some(next) = fill_page(app, access, &mut page, Some(&info.space), 0).await? {
            return Ok((page.items, Some(next)));
        }
        last = Some(info.space);
    }
    let next = last.filter(|_| !ended).map(|space| DeadLetterCursor {
        space: Some(space),
        after: BEHIND_ALL,
    });
    Ok((page.items, next))
}

/// Fills a page with the dead letters after `after`, of one space or of all; returns the start of the next page if this
/// one is full.
async fn fill_page(
    app: &App,
    access: &Access,
    page: &mut Filling<DeadLetter>,
    space: Option<&SpaceId>,
    mut after: DeadLetterId,
) -> Result<Option<DeadLetterCursor>, Problem> {
    let letters = &app.stores().dead_letters;
    loop {
        let found = match space {
            Some(space) => letters.of_space(space.as_str(), after, LOOK).await?,
            None => letters.list(after, LOOK).await?,
        };
        let ended = found.len() < LOOK;
        for letter in found {
            after = letter.id;
            page.add_item(to_api_dead_letter(app, access, letter).await?);
            if page.is_full() {
                return Ok(Some(DeadLetterCursor {
                    space: space.cloned(),
                    after,
                }));
            }
        }
        if ended {
            return Ok(None);
        }
    }
}

/// Returns the dead letter with this name, if the key may see it.
pub(crate) async fn find_dead_letter(
    app: &App,
    access: &Access,
    name: &str,
) -> Result<(DeadLetterId, DeadLetter), Problem> {
    access.require_right(Right::Admin)?;
    let missing = || Problem::not_found("there is no dead letter with this id");
    let id = id_from_name(app.sealer().await?, access, name).ok_or_else(missing)?;
    let listed = app.stores().dead_letters.list(id.saturating_sub(1), 1).await?;
    let found = listed
        .into_iter()
        .find(|it| it.id == id && may_see_space(access, &it.space));
    let shown = to_api_dead_letter(app, access, found.ok_or_else(missing)?).await?;
    Ok((id, shown))
}

/// Returns the number of the dead letter with this name. Only keys that see all dead letters may use numbers.
fn id_from_name(sealer: &Sealer, access: &Access, name: &str) -> Option<DeadLetterId> {
    let sealed = sealer.open_value(&ABOUT, name).and_then(|it| it.try_into().ok());
    let number = || name.parse().ok().filter(|_| access.opens_all());
    sealed.map(u64::from_be_bytes).or_else(number)
}

fn may_see_space(access: &Access, space: &str) -> bool {
    if space.is_empty() {
        access.opens_all()
    } else {
        access.opens_space(space)
    }
}

async fn to_api_dead_letter(
    app: &App,
    access: &Access,
    letter: domain::port::DeadLetter,
) -> Result<DeadLetter, Problem> {
    let all = access.opens_all();
    let payload = if all {
        letter.payload
    } else {
        without_position(&letter.subject, letter.payload)
    };
    Ok(DeadLetter {
        id: seal_name(app.sealer().await?, letter.id)?,
        number: all.then_some(letter.id),
        subject: letter.subject,
        group: letter.group,
        space: letter.space,
        position: all.then_some(letter.position),
        reason: letter.reason,
        attempts: letter.attempts,
        at: letter.at,
        payload,
    })
}

/// Returns a payload without its position; empty if the payload cannot be parsed.
fn without_position(subject: &str, payload: String) -> String {
    if ![UnitsWrittenV1::SUBJECT, UnitsOrganisedV1::SUBJECT].contains(&subject) {
        return payload;
    }
    match serde_json::from_str::<Map<String, Value>>(&payload) {
        Ok(mut fields) => {
            fields.remove("position");
            Value::Object(fields).to_string()
        }
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_shown_without_its_position() {
        let payload = r#"{"position":77,"space":"a","units":[]}"#.to_owned();
        let shown = without_position(UnitsWrittenV1::SUBJECT, payload.clone());
        assert_eq!(shown, r#"{"space":"a","units":[]}"#);
        assert_eq!(without_position(UnitsWrittenV1::SUBJECT, "77".to_owned()), "");
        assert_eq!(without_position("records-accepted.v1", payload.clone()), payload);
    }

    #[test]
    fn a_cursor_of_dead_letters_parses_to_the_same_place() {
        for (space, after) in [(None, 7), (Some("a".parse().unwrap()), 0)] {
            let place = DeadLetterCursor { space, after };
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for wrong in ["", "7", "x a", "7 UPPER"] {
            assert_eq!(wrong.parse::<DeadLetterCursor>(), Err(()), "{wrong}");
        }
    }
}
