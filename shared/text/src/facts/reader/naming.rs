//! Names that are told beside something else: of who is what to the speaker, and of what they own.

use super::super::said::Draft;
use super::super::subject::{Who, is_name, subject};
use super::super::thing;
use super::super::token::Word;
use super::super::{Statement, Subject};
use super::Reader;

impl Reader<'_> {
    /// "I went with my sister Ana": the speaker has a sister Ana.
    pub(super) fn kin(&mut self, words: &[Word]) {
        for at in 0..words.len() {
            if !words[at].is(&["my", "our"]) || words[at].quoted {
                continue;
            }
            let Some(Who {
                subject: Subject::Name(name),
                role: Some(role),
                ..
            }) = subject(self.told.text, words, at, None)
            else {
                continue;
            };
            if let Some(draft) = thing::has_kin(&role, &name) {
                self.push(Subject::Speaker, draft, None, None);
            }
        }
    }

    /// What somebody owns and the name that it has.
    pub(super) fn named(&mut self, words: &[Word], first: usize) {
        let owned =
            |it: &Statement| it.subject == Subject::Speaker && it.predicate == "owns" && it.positive && !it.ended;
        let mut drafts: Vec<Draft> = self.statements[first..]
            .iter()
            .filter(|it| owned(it))
            .filter_map(|it| thing::named(&it.object))
            .collect();
        let her = words.windows(4).find(|it| {
            it[0].is(&["her", "his", "its"]) && it[1].lower == "name" && it[2].lower == "is" && is_name(&it[3])
        });
        if let (Some(words), Some(what)) = (her, self.statements.iter().rev().find(|it| owned(it))) {
            drafts.extend(thing::named(&format!(
                "{} called {}",
                what.object,
                &self.told.text[words[3].range.clone()]
            )));
        }
        for draft in drafts {
            self.push(Subject::Speaker, draft, None, None);
        }
    }
}
