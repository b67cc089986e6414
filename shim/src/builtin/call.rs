//! The parameters of a call, and the rules that the upstream plugins have for them. A call that breaks one is left to the
//! program, which has the words for it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::builtin::Unsupported;
use crate::cni::conf::is_identifier;
use crate::cni::verb::Verb;

const NAME_BYTES_MAX: usize = 15;

/// The release of the upstream plugins whose behaviour is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edition {
    V1_1_1,
    V1_9_1,
}

impl Edition {
    pub fn parse(text: &str) -> Option<Edition> {
        match text {
            "1.1.1" => Some(Edition::V1_1_1),
            "1.9.1" => Some(Edition::V1_9_1),
            _ => None,
        }
    }

    /// Whether the release knows this version of CNI.
    pub fn takes(self, version: &str) -> bool {
        self.is_new() || version != "1.1.0"
    }

    pub fn is_new(self) -> bool {
        self == Edition::V1_9_1
    }
}

/// The environment of a plugin.
pub struct PluginCall {
    pub edition: Edition,
    /// `CNI_COMMAND`, and so on.
    pub command: String,
    pub container_id: String,
    pub netns: String,
    pub ifname: String,
    pub args: String,
}

impl PluginCall {
    /// The call that the variables of a plugin's environment describe.
    pub fn read(edition: Edition, variable: impl Fn(&str) -> String) -> PluginCall {
        PluginCall {
            edition,
            command: variable("CNI_COMMAND"),
            container_id: variable("CNI_CONTAINERID"),
            netns: variable("CNI_NETNS"),
            ifname: variable("CNI_IFNAME"),
            args: variable("CNI_ARGS"),
        }
    }

    /// The command, if a plugin would accept all parameters with a configuration of this version.
    pub fn verb(&self, version: &str) -> Result<Verb, Unsupported> {
        let verb = Verb::parse(&self.command);
        let verb = verb.ok_or_else(|| Unsupported(format!("the command {} is not built in", self.command)))?;
        // All versions have the same form, so their texts sort as they do.
        if version < verb.since_version() {
            return Err(Unsupported(format!("version {} has no {}", version, self.command)));
        }
        if verb.is_about_container() {
            self.check_container(verb)?;
        }
        Ok(verb)
    }

    fn check_container(&self, verb: Verb) -> Result<(), Unsupported> {
        if !is_identifier(&self.container_id) {
            return Err(Unsupported("the container ID is not valid".to_string()));
        }
        if !is_interface_name(&self.ifname) {
            return Err(Unsupported("the interface name is not plain".to_string()));
        }
        let is_plain = self.netns.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        if !is_plain || (self.netns.is_empty() && verb != Verb::Del) {
            return Err(Unsupported("the path of the network namespace is not plain".to_string()));
        }
        match self.is_own_netns() {
            true => Err(Unsupported("it is the plugin's own network namespace".to_string())),
            false => Ok(()),
        }
    }

    fn is_own_netns(&self) -> bool {
        match (fs::metadata(&self.netns), fs::metadata("/proc/thread-self/ns/net")) {
            (Ok(given), Ok(own)) => (given.dev(), given.ino()) == (own.dev(), own.ino()),
            _ => false,
        }
    }
}

/// A name that the kernel takes and that Go prints as it is.
pub fn is_interface_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/:\"\\%".contains(&byte);
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name != "." && name != ".." && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(command: &str, netns: &str, ifname: &str) -> PluginCall {
        PluginCall {
            edition: Edition::V1_9_1,
            command: command.to_string(),
            container_id: "c1".to_string(),
            netns: netns.to_string(),
            ifname: ifname.to_string(),
            args: String::new(),
        }
    }

    #[test]
    fn calls_that_a_plugin_would_refuse_are_left_to_it() {
        assert_eq!(call("ADD", "/run/netns/a", "eth0").verb("0.3.1"), Ok(Verb::Add));
        assert_eq!(call("DEL", "", "eth0").verb("0.3.1"), Ok(Verb::Del));
        assert_eq!(call("STATUS", "", "").verb("1.1.0"), Ok(Verb::Status));
        assert_eq!(call("GC", "", "").verb("1.1.0"), Ok(Verb::Gc));
        for (wrong, version) in [
            (call("ADD", "", "eth0"), "1.0.0"),
            (call("ADD", "/proc/self/ns/net", "eth0"), "1.0.0"),
            (call("ADD", "/run/netns/a", "eth0/1"), "1.0.0"),
            (call("ADD", "/run/netns/a", "a-name-too-long0"), "1.0.0"),
            (call("CHECK", "/run/netns/a", "eth0"), "0.3.1"),
            (call("STATUS", "", ""), "1.0.0"),
            (call("GC", "", ""), "1.0.0"),
            (call("VERSION", "", ""), "1.1.0"),
        ] {
            assert!(wrong.verb(version).is_err(), "{} {}", wrong.command, wrong.ifname);
        }
    }
}
