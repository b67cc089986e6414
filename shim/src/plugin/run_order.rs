//! The RUN order, checked as a whole before anything of it is done.

use std::time::Duration;

use crate::base::trace::is_trace_parent;
use crate::orders::rules::{time_limit, Rules};
use crate::plugin::stand_in::Word;
use crate::wire::frame::Frame;
use crate::wire::tag;

#[derive(Clone)]
pub struct RunOrder {
    pub step: u64,
    pub plugin: String,
    /// `KEY=VALUE`; every KEY begins with `CNI_`.
    pub env: Vec<String>,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    pub undo: Option<Undo>,
    /// Whether to run in a network namespace made for this run alone.
    pub scratch_netns: bool,
    /// The plugin's own span, where the daemon traces it.
    pub trace_parent: Option<String>,
    /// On which programs a built-in plugin stands in; none where the daemon wants none.
    pub words: Vec<Word>,
}

#[derive(Clone)]
pub struct Undo {
    pub command: String,
    pub timeout: Duration,
}

impl RunOrder {
    /// An error means a broken protocol; `refusal` covers orders that are well-formed but not allowed.
    pub fn read(frame: &Frame) -> Result<RunOrder, String> {
        let timeout = |tag: u8| frame.required_number(tag).map(time_limit);
        Ok(RunOrder {
            step: frame.step()?,
            plugin: frame.required_text(tag::PLUGIN)?,
            env: frame.texts(tag::ENV)?,
            stdin: frame.required_bytes(tag::STDIN)?.to_vec(),
            timeout: timeout(tag::TIMEOUT_MS)?,
            undo: match frame.text(tag::UNDO_COMMAND)? {
                Some(command) => Some(Undo { command, timeout: timeout(tag::UNDO_TIMEOUT_MS)? }),
                None => None,
            },
            scratch_netns: frame.flag(tag::SCRATCH_NETNS)?,
            trace_parent: frame.text(tag::TRACE_PARENT)?.filter(|text| is_trace_parent(text)),
            words: frame.texts(tag::BUILTIN)?.iter().map(|text| Word::parse(text)).collect::<Result<_, _>>()?,
        })
    }

    pub fn with_netns(&self, path: &str) -> RunOrder {
        let mut order = self.clone();
        order.env.push(format!("CNI_NETNS={}", path));
        order
    }

    pub fn variable(&self, name: &str) -> &str {
        let value = |entry: &'_ str| -> Option<usize> {
            entry.strip_prefix(name).filter(|rest| rest.starts_with('=')).map(|_| name.len() + 1)
        };
        self.env.iter().rev().find_map(|entry| value(entry).map(|start| &entry[start..])).unwrap_or("")
    }

    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        self.check(rules).err()
    }

    fn check(&self, rules: &Rules) -> Result<(), String> {
        if self.plugin.is_empty() || self.plugin == "." || self.plugin == ".." || self.plugin.contains(&['/', '\0'][..])
        {
            return Err(format!(
                "Cannot run a plugin as its name must be a file name: current value is {:?}",
                self.plugin
            ));
        }
        for entry in &self.env {
            if !entry.starts_with("CNI_") || !entry.contains('=') || entry.contains('\0') {
                let name: String = entry.chars().take_while(|character| *character != '=').take(64).collect();
                return Err(format!(
                    "Cannot pass a variable to a plugin as it must be CNI_*=value: its name is {:?}",
                    name
                ));
            }
        }
        let (container_id, netns) = (self.variable("CNI_CONTAINERID"), self.variable("CNI_NETNS"));
        rules.check_netns(netns)?;
        rules.check_container(container_id, netns)?;
        rules.check_scratch(self.scratch_netns, netns)
    }

    /// The run that undoes this one: another command, everything else the same.
    pub fn undo_order(&self) -> Option<RunOrder> {
        let undo = self.undo.clone()?;
        let mut env: Vec<String> =
            self.env.iter().filter(|entry| !entry.starts_with("CNI_COMMAND=")).cloned().collect();
        env.push(format!("CNI_COMMAND={}", undo.command));
        Some(RunOrder {
            step: self.step,
            plugin: self.plugin.clone(),
            env,
            stdin: self.stdin.clone(),
            timeout: undo.timeout,
            undo: None,
            scratch_netns: self.scratch_netns,
            trace_parent: self.trace_parent.clone(),
            words: self.words.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::ms;

    fn order(plugin: &str, env: &[&str]) -> RunOrder {
        RunOrder {
            step: 1,
            plugin: plugin.to_string(),
            env: env.iter().map(|entry| entry.to_string()).collect(),
            stdin: b"{}".to_vec(),
            timeout: ms(1),
            undo: Some(Undo { command: "DEL".to_string(), timeout: ms(2) }),
            scratch_netns: false,
            trace_parent: None,
            words: Vec::new(),
        }
    }

    fn call() -> Rules {
        Rules::Call { container_id: "c1".to_string(), netns: "/run/netns/a".to_string() }
    }

    #[test]
    fn a_run_of_the_own_call_is_accepted() {
        let env = ["CNI_COMMAND=ADD", "CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/a", "CNI_ARGS="];
        assert_eq!(order("bridge", &env).refusal(&call()), None);
    }

    #[test]
    fn names_that_leave_the_plugin_folder_are_refused() {
        for name in ["", ".", "..", "../x", "/bin/sh", "a\0b"] {
            assert!(order(name, &[]).refusal(&Rules::Resident).is_some(), "{:?}", name);
        }
    }

    #[test]
    fn only_cni_variables_pass() {
        for entry in ["LD_PRELOAD=/x", "PATH=/x", "CNI_", "CNI_X", "xCNI_A=1", "CNI_A=\0"] {
            assert!(order("a", &[entry]).refusal(&Rules::Resident).is_some(), "{:?}", entry);
        }
    }

    #[test]
    fn another_container_only_without_a_namespace() {
        assert!(order("a", &["CNI_CONTAINERID=c2", "CNI_NETNS=/run/netns/a"]).refusal(&call()).is_some());
        assert!(order("a", &["CNI_CONTAINERID=c2", "CNI_NETNS="]).refusal(&call()).is_none());
        assert!(order("a", &["CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/b"]).refusal(&call()).is_some());
        assert!(order("a", &["CNI_CONTAINERID=c2", "CNI_NETNS=/run/netns/b"]).refusal(&Rules::Resident).is_none());
        // A program sees the last of two values, so the last one is checked.
        let twice = ["CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/a", "CNI_NETNS=/run/netns/b"];
        assert!(order("a", &twice).refusal(&call()).is_some());
    }

    #[test]
    fn a_scratch_namespace_is_the_resident_hands_and_the_only_one() {
        let scratch = |env: &[&str]| RunOrder { scratch_netns: true, ..order("loopback", env) };
        assert!(scratch(&["CNI_NETNS="]).refusal(&Rules::Resident).is_none());
        assert!(scratch(&["CNI_NETNS=/run/netns/a"]).refusal(&Rules::Resident).is_some());
        assert!(scratch(&[]).refusal(&call()).is_some());
        let made = scratch(&["CNI_NETNS="]).with_netns("/proc/7/ns/net");
        assert_eq!(made.variable("CNI_NETNS"), "/proc/7/ns/net");
    }

    #[test]
    fn the_undo_changes_the_command_only() {
        let undo = order("a", &["CNI_COMMAND=ADD", "CNI_IFNAME=net1"]).undo_order().unwrap();
        assert_eq!(undo.env, ["CNI_IFNAME=net1", "CNI_COMMAND=DEL"]);
        assert_eq!((undo.stdin.as_slice(), undo.timeout, undo.undo.is_none()), (&b"{}"[..], ms(2), true));
    }
}
