//! Watermarks: a place in the stream of accepted records, opaque to callers and bound to its space.

use domain::id::SpaceId;
use domain::port::Position;
use sha2::{Digest, Sha256};

use crate::auth::{hex, hex_bytes};
use crate::problem::Problem;

/// Returns the position in hex, then the start of a digest of it and the space.
pub(crate) fn print(space: &SpaceId, position: Position) -> String {
    format!("{}{}", hex(&position.0.to_be_bytes()), hex(&seal(space, position)))
}

/// Takes a watermark back; one of another space, or made up, is refused.
pub(crate) fn parse(space: &SpaceId, text: &str) -> Result<Position, Problem> {
    let refused = || Problem::invalid(format!("this is not a watermark of the space `{space}`"));
    let bytes = hex_bytes(text).filter(|it| it.len() == 16).ok_or_else(refused)?;
    let (position, given) = bytes.split_at(8);
    let position = Position(position.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
    if given == seal(space, position) {
        Ok(position)
    } else {
        Err(refused())
    }
}

/// Takes back the watermark of a request that may have none.
pub(crate) fn given(space: &SpaceId, text: Option<&str>) -> Result<Option<Position>, Problem> {
    text.map(|it| parse(space, it)).transpose()
}

fn seal(space: &SpaceId, position: Position) -> [u8; 8] {
    let digest = Sha256::new()
        .chain_update("watermark")
        .chain_update(space.as_str())
        .chain_update(position.0.to_be_bytes())
        .finalize();
    let mut seal = [0; 8];
    seal.copy_from_slice(&digest[..8]);
    seal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watermark_belongs_to_its_space() {
        let (a, b) = ("a".parse::<SpaceId>().unwrap(), "b".parse::<SpaceId>().unwrap());
        let text = print(&a, Position(7));
        assert_eq!(parse(&a, &text).ok(), Some(Position(7)));
        let altered = text.replacen('7', "8", 1);
        for (space, text) in [(&b, text.as_str()), (&a, &altered), (&a, ""), (&a, "é0"), (&a, "zz")] {
            assert_eq!(parse(space, text).map_err(|it| it.status), Err(422), "{text}");
        }
    }
}
