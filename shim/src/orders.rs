//! What the daemon may ask of a hand, and what a hand refuses whoever asks. Each order is checked as a whole before
//! anything of it is done.

use std::time::Duration;

use crate::clock::ms;
use crate::frame::Frame;
use crate::routes::RouteOp;
use crate::tag;

/// No order runs longer than this, whatever it says.
const TIMEOUT_MS_MAX: u64 = 600_000;

/// Whose hand this is: that decides which namespaces it touches and how much it does at once.
pub enum Rules {
    Call { container_id: String, netns: String },
    Resident,
}

impl Rules {
    pub fn runs_at_once(&self) -> usize {
        match self {
            Rules::Call { .. } => 1,
            Rules::Resident => 8,
        }
    }

    /// A delete that was left over from another container may be run here, but never inside a namespace.
    fn check_container(&self, container_id: &str, netns: &str) -> Result<(), String> {
        match self {
            Rules::Call { container_id: own, .. } if !netns.is_empty() && container_id != own => Err(format!(
                "Cannot run a plugin in a network namespace for another container than {:?}: current value is {:?}",
                own, container_id
            )),
            _ => Ok(()),
        }
    }

    fn check_netns(&self, netns: &str) -> Result<(), String> {
        match self {
            Rules::Call { netns: own, .. } if !netns.is_empty() && netns != own => {
                Err(format!("Cannot work in another network namespace than {:?}: current value is {:?}", own, netns))
            }
            _ => Ok(()),
        }
    }

    fn check_scratch(&self, is_scratch: bool, netns: &str) -> Result<(), String> {
        match self {
            _ if !is_scratch => Ok(()),
            Rules::Call { .. } => {
                Err("Cannot make a scratch network namespace for a call: only the resident hand does".to_string())
            }
            Rules::Resident if netns.is_empty() => Ok(()),
            Rules::Resident => Err(format!("Cannot run both in a scratch network namespace and in {:?}", netns)),
        }
    }
}

#[derive(Clone)]
pub struct RunOrder {
    pub step: u64,
    pub plugin: String,
    /// `KEY=VALUE`, every KEY starting with `CNI_`.
    pub env: Vec<String>,
    pub stdin: Vec<u8>,
    pub timeout: Duration,
    pub undo: Option<Undo>,
    /// In a network namespace that is made for this run alone.
    pub scratch_netns: bool,
}

#[derive(Clone)]
pub struct Undo {
    pub command: String,
    pub timeout: Duration,
}

impl RunOrder {
    /// Errors here mean a broken protocol; what is well-formed but not allowed is told by `refusal`.
    pub fn read(frame: &Frame) -> Result<RunOrder, String> {
        let timeout = |tag: u8| frame.required_number(tag).map(bounded);
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
        })
    }

    /// The same run in this namespace.
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
            return Err(format!("Cannot run a plugin whose name is no file name: current value is {:?}", self.plugin));
        }
        for entry in &self.env {
            if !entry.starts_with("CNI_") || !entry.contains('=') || entry.contains('\0') {
                let name: String = entry.chars().take_while(|character| *character != '=').take(64).collect();
                return Err(format!("Cannot pass a variable that is not CNI_*=value: its name is {:?}", name));
            }
        }
        let (container_id, netns) = (self.variable("CNI_CONTAINERID"), self.variable("CNI_NETNS"));
        rules.check_netns(netns)?;
        rules.check_container(container_id, netns)?;
        rules.check_scratch(self.scratch_netns, netns)
    }

    /// The run that compensates this one: another command, everything else the same.
    pub fn compensation(&self) -> Option<RunOrder> {
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
        })
    }
}

pub struct RoutesOrder {
    pub step: u64,
    pub netns: String,
    pub ops: Vec<RouteOp>,
}

impl RoutesOrder {
    pub fn read(frame: &Frame) -> Result<RoutesOrder, String> {
        Ok(RoutesOrder {
            step: frame.step()?,
            netns: frame.required_text(tag::NETNS)?,
            ops: frame.all(tag::ROUTE_OP).map(RouteOp::read).collect::<Result<_, _>>()?,
        })
    }

    /// An empty namespace would be the host's own, whose routes are nobody's to change here.
    pub fn refusal(&self, rules: &Rules) -> Option<String> {
        if self.netns.is_empty() || self.netns.contains('\0') {
            return Some("Cannot change routes without a network namespace to change them in".to_string());
        }
        rules.check_netns(&self.netns).err()
    }
}

pub struct ReapOrder {
    pub step: u64,
    pub pid: i32,
    pub pid_start: u64,
    pub timeout: Duration,
}

impl ReapOrder {
    pub fn read(frame: &Frame) -> Result<ReapOrder, String> {
        let pid = frame.required_number(tag::PID)?;
        Ok(ReapOrder {
            step: frame.step()?,
            pid: i32::try_from(pid).unwrap_or(0),
            pid_start: frame.required_number(tag::PID_START)?,
            timeout: bounded(frame.required_number(tag::TIMEOUT_MS)?),
        })
    }

    /// Session 0 are the kernel's own threads, session 1 is init's.
    pub fn refusal(&self) -> Option<String> {
        (self.pid <= 1)
            .then(|| format!("Cannot empty a session whose number is not above 1: current value is {}", self.pid))
    }
}

fn bounded(timeout_ms: u64) -> Duration {
    ms(timeout_ms.clamp(1, TIMEOUT_MS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(plugin: &str, env: &[&str]) -> RunOrder {
        RunOrder {
            step: 1,
            plugin: plugin.to_string(),
            env: env.iter().map(|entry| entry.to_string()).collect(),
            stdin: b"{}".to_vec(),
            timeout: ms(1),
            undo: Some(Undo { command: "DEL".to_string(), timeout: ms(2) }),
            scratch_netns: false,
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
        // The last of two values is the one a program sees, so it is the one that counts.
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
    fn compensation_changes_the_command_only() {
        let undo = order("a", &["CNI_COMMAND=ADD", "CNI_IFNAME=net1"]).compensation().unwrap();
        assert_eq!(undo.env, ["CNI_IFNAME=net1", "CNI_COMMAND=DEL"]);
        assert_eq!((undo.stdin.as_slice(), undo.timeout, undo.undo.is_none()), (&b"{}"[..], ms(2), true));
    }

    #[test]
    fn routes_of_the_host_are_refused() {
        let routes = |netns: &str| RoutesOrder { step: 1, netns: netns.to_string(), ops: vec![] };
        assert!(routes("").refusal(&Rules::Resident).is_some());
        assert!(routes("/run/netns/b").refusal(&call()).is_some());
        assert!(routes("/run/netns/a").refusal(&call()).is_none());
    }
}
