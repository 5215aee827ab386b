//! Vectors of the parts of units.

use domain::port::Point;
use host::Backends;
use tracing::{Instrument as _, info_span};

use crate::Error;
use crate::units::points::Part;

pub(crate) async fn embed_parts(backends: &Backends, mut parts: Vec<Part>) -> Result<Vec<Point>, Error> {
    let texts: Vec<String> = parts.iter_mut().map(|it| std::mem::take(&mut it.text)).collect();
    let embedding = info_span!("embed", texts = texts.len());
    let vectors = backends.embedder.embed(&texts).instrument(embedding).await?;
    if vectors.len() != parts.len() {
        return Err(Error::Vectors {
            texts: texts.len(),
            vectors: vectors.len(),
        });
    }
    Ok(parts
        .into_iter()
        .zip(vectors)
        .map(|(part, vector)| part.into_point(vector))
        .collect())
}
