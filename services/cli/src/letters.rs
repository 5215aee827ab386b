use gateway::api::DeadLetter;

use crate::api::Client;
use crate::args::{DeadLetters, DeadLettersCommand};
use crate::{Outcome, out};

/// Lists, shows, replays and discards dead letters.
pub(crate) async fn letters(args: &DeadLetters) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    match &args.command {
        DeadLettersCommand::List => list(&client.dead_letters().await?),
        DeadLettersCommand::Show { id } => show(&client.dead_letter(id).await?),
        DeadLettersCommand::Replay { id } => {
            client.replay(id).await?;
            out::say(&format!("{id} is on its way again"));
        }
        DeadLettersCommand::Discard { id } => {
            client.discard(id).await?;
            out::say(&format!("{id} is forgotten; what it carried is not written"));
        }
    }
    Ok(Outcome::Done)
}

fn list(letters: &[DeadLetter]) {
    if letters.is_empty() {
        out::say("no dead letters");
        return;
    }
    out::say(&format!(
        "{:>8}  {:16}  {:8}  {:10}  {:>8}  reason",
        "id", "given up", "subject", "group", "attempts"
    ));
    for it in letters {
        let at = it.at.format("%Y-%m-%d %H:%M");
        out::say(&format!(
            "{:>8}  {at:16}  {:8}  {:10}  {:>8}  {}",
            called(it),
            it.subject,
            it.group,
            it.attempts,
            it.reason
        ));
    }
    out::say("one with its payload: mnemic dead-letters show ID; once more: mnemic dead-letters replay ID");
}

fn show(letter: &DeadLetter) {
    let DeadLetter {
        subject,
        group,
        space,
        position,
        reason,
        attempts,
        at,
        payload,
        ..
    } = letter;
    let id = called(letter);
    let position = position.map(|it| format!(", position {}", it.0)).unwrap_or_default();
    out::say(&format!(
        "dead letter {id}\n  subject   {subject}{position}\n  group     {group}\n  space     {space}\n  given up  {at} after {attempts} attempts\n  \
         reason    {reason}\n  payload   {payload}"
    ));
}

/// Returns the name of a letter for messages: its number, if the key may know it.
fn called(letter: &DeadLetter) -> String {
    letter.number.map_or_else(|| letter.id.clone(), |it| it.to_string())
}
