//! Adds to records the captions that readings give their pictures. Everything derived from such a record is the same
//! as if the caller had given that caption.

use std::collections::BTreeMap;

use domain::PortError;
use domain::id::{ReadingId, RecordId, SpaceId};
use domain::reading::{Reading, ReadingKind};
use domain::record::Record;
use host::Backends;

use crate::pictures::picture_caption::check_caption;
use crate::pictures::picture_prompt::picture_digest;

/// Number of readings looked up in one request.
const AT_ONCE: usize = 500;

/// Returns true if a record has a picture and the caller gave no caption.
pub(crate) fn has_uncaptioned_picture(record: &Record) -> bool {
    let is_blank = |it: Option<&str>| it.is_none_or(|it| it.trim().is_empty());
    is_blank(record.image_caption.as_deref()) && !is_blank(record.image_uri.as_deref())
}

/// Returns the caption that a reading gives the picture of a record. Returns none if the reading is about something
/// else or has no caption.
pub(crate) fn caption_of(reading: &Reading, record: &Record) -> Option<String> {
    let is_of_it = reading.kind == ReadingKind::Picture && reading.digest == picture_digest(record);
    if !is_of_it || reading.failure.is_some() || !has_uncaptioned_picture(record) {
        return None;
    }
    Some(check_caption(&reading.output).text).filter(|it| !it.is_empty())
}

/// Returns stored records, with the captions from readings, in the requested order.
pub(crate) async fn read_captioned_records(
    backends: &Backends,
    space: &SpaceId,
    ids: &[RecordId],
) -> Result<Vec<Record>, PortError> {
    let records = backends.records.get(space, ids).await?;
    with_captions(backends, space, records).await
}

/// Returns the records with the captions from readings. A caption of the caller is kept.
pub(crate) async fn with_captions(
    backends: &Backends,
    space: &SpaceId,
    mut records: Vec<Record>,
) -> Result<Vec<Record>, PortError> {
    let open: Vec<&mut Record> = records.iter_mut().filter(|it| has_uncaptioned_picture(it)).collect();
    if open.is_empty() {
        return Ok(records);
    }
    let ids: Vec<ReadingId> = open.iter().map(|it| ReadingId::of_picture(it.id)).collect();
    let mut readings: BTreeMap<ReadingId, Reading> = BTreeMap::new();
    for some in ids.chunks(AT_ONCE) {
        let found = backends.readings.get(space, some).await?;
        readings.extend(found.into_iter().map(|it| (it.id, it)));
    }
    for record in open {
        let reading = readings.get(&ReadingId::of_picture(record.id));
        record.image_caption = reading
            .and_then(|it| caption_of(it, record))
            .or(record.image_caption.take());
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::example;

    fn record_with_picture(caption: Option<&str>) -> Record {
        Record {
            image_uri: Some("https://pictures.example.com/1.png".to_owned()),
            image_caption: caption.map(str::to_owned),
            ..example::sample_record(1, "Ann", "Look!")
        }
    }

    fn picture_reading(record: &Record, output: &str) -> Reading {
        Reading {
            id: ReadingId::of_picture(record.id),
            kind: ReadingKind::Picture,
            digest: picture_digest(record),
            ..example::sample_reading(std::slice::from_ref(record), output)
        }
    }

    #[test]
    fn a_reading_captions_its_picture_unless_the_caller_did() {
        let (bare, blank, own) = (
            record_with_picture(None),
            record_with_picture(Some(" ")),
            record_with_picture(Some("my fern")),
        );
        let described = picture_reading(&bare, r#"{"caption": "A fern."}"#);
        assert_eq!(caption_of(&described, &bare).as_deref(), Some("A fern."));
        assert_eq!(caption_of(&described, &blank).as_deref(), Some("A fern."));
        assert_eq!(caption_of(&described, &own), None);
        let plain = example::sample_record(1, "Ann", "Look!");
        assert!(!has_uncaptioned_picture(&plain) && !has_uncaptioned_picture(&own));
    }

    #[test]
    fn a_reading_of_another_picture_or_without_a_reply_gives_no_caption() {
        let bare = record_with_picture(None);
        let other = Record {
            image_uri: Some("https://pictures.example.com/2.png".to_owned()),
            ..bare.clone()
        };
        let described = picture_reading(&bare, r#"{"caption": "A fern."}"#);
        assert_eq!(caption_of(&described, &other), None);
        let failed = Reading {
            failure: Some("its host answers 404".to_owned()),
            ..described.clone()
        };
        assert_eq!(caption_of(&failed, &bare), None);
        let passage = Reading {
            kind: ReadingKind::Passage,
            ..described
        };
        assert_eq!(caption_of(&passage, &bare), None);
        assert_eq!(caption_of(&picture_reading(&bare, r#"{"caption": ""}"#), &bare), None);
    }
}
