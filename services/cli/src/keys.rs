use std::fs::File;
use std::io::Read;

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::args::{Keys, KeysCommand};
use crate::{Outcome, out};

/// Random bytes in a key: 256 bits, beyond guessing.
const BYTES: usize = 32;

/// Makes keys.
pub(crate) fn keys(args: &Keys) -> anyhow::Result<Outcome> {
    match args.command {
        KeysCommand::New => new(),
    }
}

fn new() -> anyhow::Result<Outcome> {
    let mut random = [0; BYTES];
    let source = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut random));
    source.context("the system gives no random bytes")?;
    let key = format!("mnemic_{}", hex(&random));
    let digest = hex(&Sha256::digest(&key));
    out::say(&format!(
        "{key}\n\n\
         Give it to the client (MNEMIC_KEY, or `Authorization: Bearer`); it is shown only now. The server is told its digest,\n\
         in the settings file:\n\n\
         [[gateway.keys]]\n\
         name = \"a name for the logs\"\n\
         sha256 = \"{digest}\"\n\
         spaces = [\"*\"]               # or names, or prefixes like \"team-*\"\n\
         rights = [\"read\", \"write\"]   # \"admin\" erases spaces and handles dead letters"
    ));
    Ok(Outcome::Done)
}

/// Returns bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
