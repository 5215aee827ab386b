//! The roles in a conversation with an assistant, by the names of their speakers.

use crate::lexicon::{Class, is_in_class};

/// The role of a speaker without a proper name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person who uses an assistant.
    User,
    /// The program that answers and acts.
    Assistant,
    /// A program that an assistant calls, and its results.
    Tool,
    /// The instructions that set up the assistant.
    System,
}

/// Returns the role that the name of a speaker stands for; `None` for a name of a person. A number after the name is
/// ignored ("agent-2"), except for users: "user 2" may be a person.
pub fn role_of_speaker(name: &str) -> Option<Role> {
    let lower = name.to_lowercase();
    if matches!(lower.as_str(), "user" | "human") {
        return Some(Role::User);
    }
    match lower.trim_end_matches(|it: char| it.is_ascii_digit() || matches!(it, '-' | '_' | ' ' | '.')) {
        it if is_in_class(it, Class::AssistantName) => Some(Role::Assistant),
        // "Claude" is also a first name: alone it is a person, with a number it is a model.
        "claude" if lower.ends_with(|it: char| it.is_ascii_digit()) => Some(Role::Assistant),
        it if is_in_class(it, Class::ToolName) => Some(Role::Tool),
        "system" => Some(Role::System),
        _ => None,
    }
}

/// Returns true if a name is that of the user of an assistant.
pub fn is_user(name: &str) -> bool {
    role_of_speaker(name) == Some(Role::User)
}

/// Returns true if a name is that of an assistant, an agent or a tool. These state nothing about themselves.
pub fn is_assistant(name: &str) -> bool {
    role_of_speaker(name).is_some_and(|it| it != Role::User)
}

/// Returns true if [`is_assistant`] does, and also for a model with the first name of a person that speaks to a user.
pub fn is_assistant_to(name: &str, addressee: &str) -> bool {
    is_assistant(name) || name.eq_ignore_ascii_case("claude") && is_user(addressee)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_not_the_name_of_a_person() {
        for (name, expected) in [
            ("User", Some(Role::User)),
            ("agent-2", Some(Role::Assistant)),
            ("GPT 4.1", Some(Role::Assistant)),
            ("claude-3", Some(Role::Assistant)),
            ("Claude", None),
            ("environment", Some(Role::Tool)),
            ("system", Some(Role::System)),
            ("Agentha", None),
            ("user 2", None),
        ] {
            assert_eq!(role_of_speaker(name), expected, "{name}");
        }
    }
}
