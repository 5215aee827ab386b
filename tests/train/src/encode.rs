//! Hits that the index of a memory with a sentence encoder returns for every question of a world.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use domain::port::{Embedder, Embedding, Hit};
use tokio::runtime::Runtime;

use crate::world::World;

/// A sentence encoder.
pub struct Encoder {
    embedder: Arc<dyn Embedder>,
    runtime: Runtime,
}

impl Encoder {
    /// Opens the encoder in a folder.
    ///
    /// # Errors
    /// If the encoder cannot be used, or if this build has no encoder.
    pub fn open(dir: &Path) -> anyhow::Result<Encoder> {
        Ok(Encoder {
            embedder: adapters::open_embedder(dir).context("--encoder")?,
            runtime: tokio::runtime::Builder::new_current_thread().build()?,
        })
    }

    /// Returns the name of the model.
    pub fn model(&self) -> &str {
        self.embedder.model()
    }

    /// Stores in each world the hits of its questions. Call it when the world has all its questions.
    ///
    /// # Errors
    /// If the encoder fails.
    pub fn read(&self, worlds: &mut [World]) -> anyhow::Result<()> {
        worlds.iter_mut().try_for_each(|it| self.read_one(it))
    }

    fn read_one(&self, world: &mut World) -> anyhow::Result<()> {
        let parts: Vec<(usize, String)> = (0..)
            .zip(world.view.turns())
            .flat_map(|(place, turn)| {
                let texts = world.units.get(&turn.unit.id).map(writer::embedded_texts);
                texts.into_iter().flatten().map(move |it| (place, it))
            })
            .collect();
        let texts: Vec<String> = parts.iter().map(|it| it.1.clone()).collect();
        let vectors = self.runtime.block_on(self.embedder.embed(&texts))?;
        for asked in &world.questions {
            let asked = &asked.question;
            let question = self.runtime.block_on(self.embedder.embed_question(asked))?;
            let mut hits: Vec<(f32, usize)> = vectors.iter().map(|it| cosine(&question, it)).zip(0..).collect();
            hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            hits.truncate(router::Config::default().hits);
            let hit = |(score, at): (f32, usize)| Hit {
                unit: world.view.turns()[parts[at].0].unit.id,
                part: 0,
                score,
            };
            let hits = hits.into_iter().map(hit).collect();
            world.hits.insert(asked.clone(), hits);
        }
        Ok(())
    }
}

fn cosine(a: &Embedding, b: &Embedding) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
