//! The sides of a talk with an assistant, by what their speakers are called.

use crate::lexicon::{Class, is};

/// What a speaker is that has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Who uses an assistant.
    User,
    /// What answers and acts.
    Assistant,
    /// What an assistant calls, and what comes back from it.
    Tool,
    /// What sets it up.
    System,
}

/// Returns the role that a speaker is called by; none for a name. A figure behind it tells agents apart, but users are people.
pub fn role(name: &str) -> Option<Role> {
    let lower = name.to_lowercase();
    if matches!(lower.as_str(), "user" | "human") {
        return Some(Role::User);
    }
    match lower.trim_end_matches(|it: char| it.is_ascii_digit() || matches!(it, '-' | '_' | ' ' | '.')) {
        it if is(it, Class::AssistantName) => Some(Role::Assistant),
        // People are called so too: alone it is a name, with a figure it is a model.
        "claude" if lower.ends_with(|it: char| it.is_ascii_digit()) => Some(Role::Assistant),
        "tool" | "environment" | "function" => Some(Role::Tool),
        "system" => Some(Role::System),
        _ => None,
    }
}

/// Says whether a name is that of the user of an assistant.
pub fn is_user(name: &str) -> bool {
    role(name) == Some(Role::User)
}

/// Says whether a name is that of an assistant, an agent or a tool, which tells nothing of itself.
pub fn is_assistant(name: &str) -> bool {
    role(name).is_some_and(|it| it != Role::User)
}

/// As [`is_assistant`], also of a model that is called as people are, by whom it speaks to.
pub fn is_assistant_to(name: &str, addressee: &str) -> bool {
    is_assistant(name) || name.eq_ignore_ascii_case("claude") && is_user(addressee)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_no_name() {
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
            assert_eq!(role(name), expected, "{name}");
        }
    }
}
