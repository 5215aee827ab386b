use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// A picture for a language model.
///
/// Its serialised form contains only the kind and the number of bytes. To compare pictures, use a digest of
/// [`bytes`](Picture::bytes).
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Picture {
    kind: PictureKind,
    #[serde(serialize_with = "number_of_bytes")]
    bytes: Arc<[u8]>,
}

/// The kinds of pictures that language models accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum PictureKind {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// WebP.
    #[serde(rename = "image/webp")]
    Webp,
    /// GIF.
    #[serde(rename = "image/gif")]
    Gif,
}

impl PictureKind {
    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            PictureKind::Png => "image/png",
            PictureKind::Jpeg => "image/jpeg",
            PictureKind::Webp => "image/webp",
            PictureKind::Gif => "image/gif",
        }
    }

    /// Returns the kind of a media type, which may be in any case and have parameters. Returns `None` for all other
    /// types.
    pub fn of_media_type(media_type: &str) -> Option<PictureKind> {
        let name = media_type
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match name.as_str() {
            "image/png" => Some(PictureKind::Png),
            // `image/jpg` is not a registered name, but many servers send it.
            "image/jpeg" | "image/jpg" => Some(PictureKind::Jpeg),
            "image/webp" => Some(PictureKind::Webp),
            "image/gif" => Some(PictureKind::Gif),
            _ => None,
        }
    }

    /// Returns the kind of a picture, determined by its first bytes.
    fn of_bytes(bytes: &[u8]) -> Option<PictureKind> {
        let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(PictureKind::Png)
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            Some(PictureKind::Jpeg)
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some(PictureKind::Gif)
        } else {
            is_webp.then_some(PictureKind::Webp)
        }
    }
}

impl Picture {
    /// Maximum size of a picture, in bytes.
    pub const BYTES_MAX: usize = 16 << 20;

    /// Makes a picture from the bytes of a file; the first bytes determine the kind. Returns `None` if the kind is not
    /// supported or the picture is too large.
    pub fn new(bytes: Vec<u8>) -> Option<Picture> {
        let kind = PictureKind::of_bytes(&bytes).filter(|_| bytes.len() <= Picture::BYTES_MAX)?;
        Some(Picture {
            kind,
            bytes: bytes.into(),
        })
    }

    /// Returns the kind.
    pub fn kind(&self) -> PictureKind {
        self.kind
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({}, {} bytes)", self.kind.media_type(), self.bytes.len())
    }
}

fn number_of_bytes<S: serde::Serializer>(bytes: &Arc<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_determine_the_kind_of_a_picture() {
        let kind = |bytes: &[u8]| Picture::new(bytes.to_vec()).map(|it| it.kind());
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n...."), Some(PictureKind::Png));
        assert_eq!(kind(b"\xff\xd8\xff\xe0"), Some(PictureKind::Jpeg));
        assert_eq!(kind(b"GIF89a"), Some(PictureKind::Gif));
        assert_eq!(kind(b"RIFF\x10\0\0\0WEBPVP8 "), Some(PictureKind::Webp));
        for other in [&b"RIFF\x10\0\0\0WAVE"[..], b"<svg></svg>", b"%PDF-1.7", b"", b"\x89PNG"] {
            assert_eq!(kind(other), None, "{other:?}");
        }
        let mut large = b"GIF89a".to_vec();
        large.resize(Picture::BYTES_MAX + 1, 0);
        assert_eq!(kind(&large), None);
    }

    #[test]
    fn media_types_may_be_in_any_case_and_have_parameters() {
        for (name, expected) in [
            ("Image/PNG; charset=binary", Some(PictureKind::Png)),
            ("image/jpg", Some(PictureKind::Jpeg)),
            ("image/svg+xml", None),
            ("text/html", None),
        ] {
            assert_eq!(PictureKind::of_media_type(name), expected, "{name}");
        }
    }

    #[test]
    fn json_and_debug_output_of_a_picture_omit_its_bytes() {
        let picture = Picture::new(b"GIF89a secret".to_vec()).unwrap();
        let json = serde_json::to_string(&picture).unwrap();
        assert_eq!(json, r#"{"kind":"image/gif","bytes":13}"#);
        assert_eq!(format!("{picture:?}"), "Picture(image/gif, 13 bytes)");
    }
}
