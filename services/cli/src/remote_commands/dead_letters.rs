use gateway::api::DeadLetter;

use crate::api::Client;
use crate::args::{DeadLetters, DeadLettersCommand};
use crate::{Outcome, output};

/// Lists, shows, replays and discards dead letters.
pub(crate) async fn run_dead_letters_command(args: &DeadLetters) -> anyhow::Result<Outcome> {
    let client = Client::new(&args.remote.url, args.remote.key.clone())?;
    match &args.command {
        DeadLettersCommand::List => print_dead_letters(&client.dead_letters().await?),
        DeadLettersCommand::Show { id } => print_dead_letter(&client.dead_letter(id).await?),
        DeadLettersCommand::Replay { id } => {
            client.replay_dead_letter(id).await?;
            output::print_line(&format!("{id} is being delivered again"));
        }
        DeadLettersCommand::Discard { id } => {
            client.discard_dead_letter(id).await?;
            output::print_line(&format!("{id} is deleted; its content is not written"));
        }
    }
    Ok(Outcome::Done)
}

fn print_dead_letters(letters: &[DeadLetter]) {
    if letters.is_empty() {
        output::print_line("no dead letters");
        return;
    }
    output::print_line(&format!(
        "{:>8}  {:16}  {:8}  {:10}  {:>8}  reason",
        "id", "given up", "subject", "group", "attempts"
    ));
    for it in letters {
        let at = it.at.format("%Y-%m-%d %H:%M");
        output::print_line(&format!(
            "{:>8}  {at:16}  {:8}  {:10}  {:>8}  {}",
            dead_letter_name(it),
            it.subject,
            it.group,
            it.attempts,
            it.reason
        ));
    }
    output::print_line(
        "show one with its payload: mnemic dead-letters show ID; deliver it again: mnemic dead-letters replay ID",
    );
}

fn print_dead_letter(letter: &DeadLetter) {
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
    let id = dead_letter_name(letter);
    let position = position.map(|it| format!(", position {}", it.0)).unwrap_or_default();
    output::print_line(&format!(
        "dead letter {id}\n  subject   {subject}{position}\n  group     {group}\n  space     {space}\n  given up  {at} after {attempts} attempts\n  \
         reason    {reason}\n  payload   {payload}"
    ));
}

/// Returns the name of a letter for messages: its number, if the key may know it.
fn dead_letter_name(letter: &DeadLetter) -> String {
    letter.number.map_or_else(|| letter.id.clone(), |it| it.to_string())
}
