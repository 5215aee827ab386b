//! The classes that words can be in.

/// Declares the classes, each with its name in the files.
macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal,)*) => {
        /// A class of words, see `data/LANGUAGE/lexicon.tsv`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Class { $($(#[$doc])* $class,)* }

        /// All classes by their names in the files.
        pub(super) const ALL: &[(&str, Class)] = &[$(($name, Class::$class),)*];
    };
}

classes! {
    // Grammar
    /// Finite forms of be, have and do, and the modal verbs: what comes before a verb, or opens a yes-or-no question.
    Auxiliary = "auxiliary",
    /// Function words and greetings: they say nothing about what a text is about.
    Stop = "stop",
    /// What an apostrophe joins to a word: "she's", "they'll".
    ShortForm = "short-form",
}
