//! Whether a plugin that is built in stands in for its program. The daemon decides: its order has a word on each program
//! that it knows. The hand only looks which program is there, and describes to the daemon one that no word covers.

use crate::plugin::program::{FileIdentity, Program};
use crate::plugin::run_order::RunOrder;

/// `NAME WHICH VERSION`. The first word that fits counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    name: String,
    which: Which,
    /// The version of the upstream program that the built-in stands in for; None where the program itself is to run.
    version: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Which {
    /// `any`: whatever program is there, or none.
    Any,
    /// `absent`: no program is there.
    Absent,
    /// The program with this identity.
    File(FileIdentity),
}

/// What the order's words come to on this machine.
#[derive(Default)]
pub struct StandIns {
    /// Name and version of the built-ins that may serve.
    allowed: Vec<(String, String)>,
    /// Whether the order's plugin is there as a program.
    pub has_program: bool,
    /// Programs that the daemon has not seen yet.
    pub unknown: Vec<String>,
}

impl Word {
    /// An error means a broken protocol.
    pub fn parse(text: &str) -> Result<Word, String> {
        let word = |parts: &[&str]| -> Option<Word> {
            let [name, which, version] = <[&str; 3]>::try_from(parts).ok()?;
            let which = match which {
                "any" => Which::Any,
                "absent" => Which::Absent,
                file => Which::File(FileIdentity::parse(file)?),
            };
            Some(Word { name: name.to_string(), which, version: Some(version.to_string()).filter(|text| text != "-") })
        };
        word(&text.split(' ').collect::<Vec<_>>()).ok_or_else(|| {
            format!("Cannot read a word on a built-in plugin: current value is {:?}", text.get(..200).unwrap_or(text))
        })
    }

    fn fits(&self, found: Option<FileIdentity>) -> bool {
        match self.which {
            Which::Any => true,
            Which::Absent => found.is_none(),
            Which::File(file) => found == Some(file),
        }
    }
}

impl StandIns {
    /// Looks at the order's own plugin, and at the built-in IPAMs that it may call.
    pub fn of(order: &RunOrder, program: Option<&Program>) -> StandIns {
        let mut found = StandIns { has_program: program.is_some(), ..StandIns::default() };
        found.judge(&order.words, &order.plugin, program);
        if found.version(&order.plugin).is_some() {
            for name in crate::builtin::IPAMS.iter().filter(|name| **name != order.plugin) {
                let program = Program::find(name, order.variable("CNI_PATH"));
                found.judge(&order.words, name, program.as_ref());
            }
        }
        found
    }

    /// The version that the built-in of that name stands in for; None where it must not serve.
    pub fn version(&self, name: &str) -> Option<&str> {
        self.allowed.iter().find(|(allowed, _)| allowed == name).map(|(_, version)| version.as_str())
    }

    fn judge(&mut self, words: &[Word], name: &str, program: Option<&Program>) {
        let mut own = words.iter().filter(|word| word.name == name).peekable();
        if own.peek().is_none() {
            return;
        }
        match (own.find(|word| word.fits(program.map(|program| program.identity))), program) {
            (Some(Word { version: Some(version), .. }), _) => self.allowed.push((name.to_string(), version.clone())),
            (Some(_), _) | (None, None) => {}
            (None, Some(program)) => self.unknown.push(program.describe(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "1:2:3:4";

    fn judged(words: &[&str], program: Option<&str>) -> (Option<String>, usize) {
        let words: Vec<Word> = words.iter().map(|word| Word::parse(word).unwrap()).collect();
        let program = program
            .map(|identity| Program { path: "/no/such/file".into(), identity: FileIdentity::parse(identity).unwrap() });
        let mut found = StandIns::default();
        found.judge(&words, "bridge", program.as_ref());
        (found.version("bridge").map(str::to_string), found.unknown.len())
    }

    #[test]
    fn the_first_word_that_fits_counts() {
        let version = |text: &str| Some(text.to_string());
        let words = ["bridge 1:2:3:4 1.1.1", "bridge 1:2:3:5 -", "bridge absent 1.9.1", "vlan any 1.9.1"];
        assert_eq!(judged(&words, Some(OURS)), (version("1.1.1"), 0));
        assert_eq!(judged(&words, None), (version("1.9.1"), 0));
        assert_eq!(judged(&words, Some("1:2:3:5")), (None, 0), "known, and left alone");
        assert_eq!(judged(&words, Some("1:2:3:6")), (None, 1), "unknown, so it is described");
        assert_eq!(judged(&["bridge any 1.9.1"], Some(OURS)), (version("1.9.1"), 0));
        assert_eq!(judged(&["bridge absent -"], None), (None, 0));
    }

    #[test]
    fn without_a_word_on_it_a_program_runs_and_nothing_is_told() {
        assert_eq!(judged(&[], Some(OURS)), (None, 0));
        assert_eq!(judged(&["vlan any 1.9.1"], Some(OURS)), (None, 0));
    }

    #[test]
    fn a_word_of_another_form_breaks_the_protocol() {
        for wrong in ["", "bridge", "bridge any", "bridge any 1.9.1 more", "bridge some 1.9.1", "bridge 1:2 1.9.1"] {
            assert!(Word::parse(wrong).is_err(), "{:?}", wrong);
        }
    }
}
