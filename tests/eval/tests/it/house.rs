//! Checks the format of our own data set.

use std::path::Path;

use eval::check::check_data;
use eval::data::DataSet;

#[test]
fn the_house_data_set_has_no_format_errors() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/house");
    let findings = check_data(&DataSet::read(&dir).unwrap());
    assert_eq!(findings.errors, Vec::<String>::new());
    assert!(
        findings.counts["questions without an answer"] > 0,
        "{:?}",
        findings.counts
    );
}
