//! The verbs that go to the daemon, and what each of them requires. VERSION is not among them: the shim answers it.

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verb {
    Add,
    Del,
    Check,
    Status,
    Gc,
}

impl Verb {
    pub fn parse(command: &str) -> Option<Verb> {
        match command {
            "ADD" => Some(Verb::Add),
            "DEL" => Some(Verb::Del),
            "CHECK" => Some(Verb::Check),
            "STATUS" => Some(Verb::Status),
            "GC" => Some(Verb::Gc),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Verb::Add => "ADD",
            Verb::Del => "DEL",
            Verb::Check => "CHECK",
            Verb::Status => "STATUS",
            Verb::Gc => "GC",
        }
    }

    /// The first CNI version that knows the verb.
    pub fn since_version(self) -> &'static str {
        match self {
            Verb::Add | Verb::Del => "0.1.0",
            Verb::Check => "0.4.0",
            Verb::Status | Verb::Gc => "1.1.0",
        }
    }

    /// Whether the verb is about one container, and so needs its variables.
    pub fn is_about_container(self) -> bool {
        matches!(self, Verb::Add | Verb::Del | Verb::Check)
    }
}
