//! Writes `data/static-en-128.near`, the rows nearest to each row of the built-in table: `cargo run --release -p text
//! --example nearest -- OUT`. `data/NOTICE.md` describes the layout.

use std::error::Error;

use text::EmbeddingTable;

/// Number of rows that the file lists for each row, and the value in place of a missing one.
const ROWS: usize = 6;
const NO_ROW: u16 = u16::MAX;

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: nearest OUT")?;
    let table = EmbeddingTable::builtin();
    let mut bytes = Vec::new();
    for row in 0..u32::try_from(table.len())? {
        let mut rows = [NO_ROW; ROWS];
        for (place, nearest) in rows.iter_mut().zip(table.search_nearest(row)) {
            *place = u16::try_from(nearest)?;
        }
        bytes.extend(rows.iter().flat_map(|it| it.to_le_bytes()));
    }
    Ok(std::fs::write(out, bytes)?)
}
