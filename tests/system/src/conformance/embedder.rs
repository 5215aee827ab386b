//! Embeds texts as vectors.

use domain::port::Embedding;

use super::Ports;

fn cosine(a: &Embedding, b: &Embedding) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Each text has one vector, in the order of the texts. It has the promised length, is normalised or zero, and is
/// always the same.
pub async fn vectors_are_normalised_and_repeatable(open: impl AsyncFn() -> Ports) {
    let embedder = open().await.embedder;
    let mut texts: Vec<String> = ["We walked the dog.", "", "∅ 🙂", "naïve café", "犬と散歩"]
        .map(str::to_owned)
        .to_vec();
    texts.extend((0..2_000).map(|it| format!("Number {it} of many sentences about a garden and its trees")));
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    for (text, vector) in texts.iter().zip(&vectors) {
        let length = cosine(vector, vector).sqrt();
        assert_eq!(vector.len(), embedder.dimension());
        assert!(length == 0.0 || (length - 1.0).abs() < 1e-3, "{text}: {length}");
    }
    assert_eq!(
        embedder.embed(&texts[..3]).await.unwrap(),
        vectors[..3],
        "alone as in a batch"
    );
    assert!(vectors[1].iter().all(|it| *it == 0.0), "no word, no direction");
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
    assert!(!embedder.model().is_empty());
}

/// Texts with a similar meaning have closer vectors than others.
pub async fn near_in_meaning_is_near(open: impl AsyncFn() -> Ports) {
    let embedder = open().await.embedder;
    let texts = [
        "We adopted a puppy last week",
        "Our new dog is three months old",
        "The invoice is due on Monday",
    ];
    let vectors = embedder.embed(&texts.map(str::to_owned)).await.unwrap();
    let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    assert!(near > far, "{near} {far}");
}
