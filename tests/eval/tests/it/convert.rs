//! Converts files of public formats into valid data sets. The content of all files is invented.

mod agents;
mod chats;
mod refusals;

use std::fs;

use eval::check::check_data;
use eval::convert::{Conversion, Counts, Format, convert_data};
use eval::data::{DataSet, QuestionTimes, question_times};
use serde_json::Value;

/// Result of a conversion.
struct Outcome {
    counts: Counts,
    data: DataSet,
    times: QuestionTimes,
}

/// Converts one file with this name and content, and checks that the data set is valid.
fn converted(format: Format, name: &str, content: &str) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    fs::write(&file, content).unwrap();
    let out = dir.path().join("out");
    let counts = convert_data(&Conversion {
        format,
        files: vec![file],
        questions: None,
        out: out.clone(),
    });
    let counts = counts.unwrap();
    let data = DataSet::read(&out).unwrap();
    assert_eq!(check_data(&data).errors, Vec::<String>::new());
    Outcome {
        counts,
        data,
        times: question_times(&out).unwrap(),
    }
}

/// Returns the error of a file that cannot be converted, without the path of its folder.
fn refusal(format: Format, name: &str, content: &Value) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(name);
    fs::write(&file, content.to_string()).unwrap();
    let out = dir.path().join("out");
    let error = convert_data(&Conversion {
        format,
        files: vec![file],
        questions: None,
        out: out.clone(),
    });
    let error = format!("{:#}", error.unwrap_err());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "a file is left after: {error}");
    error.replace(&format!("{}/", dir.path().display()), "")
}
