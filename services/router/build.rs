//! Sets the version of turn images: a digest of everything that the image of a turn is computed from.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Result;
use std::path::{Path, PathBuf};

/// The rules and tables of the text crate, the router's code that computes images, and the versions of the libraries.
const SOURCES: [&str; 5] = [
    "../../shared/text/src",
    "../../shared/text/data",
    "src/space/view",
    "src/space/view.rs",
    "../../Cargo.lock",
];

fn main() -> Result<()> {
    let mut digest = DefaultHasher::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        let mut files = Vec::new();
        collect_files(Path::new(source), &mut files)?;
        files.sort();
        for file in files {
            file.hash(&mut digest);
            std::fs::read(&file)?.hash(&mut digest);
        }
    }
    // Blocks hold numbers in the byte order of the machine.
    std::env::var_os("CARGO_CFG_TARGET_ENDIAN").hash(&mut digest);
    // The shift makes the number fit into the signed integer of a database.
    println!("cargo::rustc-env=MNEMIC_IMAGE_VERSION={}", digest.finish() >> 2);
    Ok(())
}

fn collect_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            collect_files(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}
