//! The sysctls of the configuration. `IFNAME` in a name stands for the container's interface.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use crate::builtin::conf::Conf;
use crate::builtin::go::tree::Json;
use crate::builtin::go::words::path_error;
use crate::builtin::{Edition, PluginCall, Unsupported};
use crate::sys;

/// Newer editions set only the sysctls that this file names by patterns, if it is there.
const ALLOW_LIST: &str = "/etc/cni/tuning/allowlist.conf";
const INTERFACE: &str = "IFNAME";

/// Name and value, in the order of the configuration. Upstream sets them in any order.
pub struct Sysctls(Vec<(String, String)>);

impl Sysctls {
    pub fn read(conf: &mut Conf, call: &PluginCall) -> Result<Sysctls, Unsupported> {
        let members = match conf.own.take("sysctl") {
            None => &[][..],
            Some(Json::Object(members)) => members,
            Some(_) => return Err(conf.own.wrong("sysctl", "not an object")),
        };
        let mut sysctls = Vec::new();
        for (name, value) in members {
            match value {
                Json::Text(value) if !value.is_empty() && is_plain(name) => sysctls.push((name.clone(), value.clone())),
                _ => return Err(conf.own.wrong("sysctl", "not an object of plain names and strings")),
            }
        }
        if call.ifname.contains('.') && sysctls.iter().any(|(name, _)| name.contains(INTERFACE)) {
            return Err(Unsupported("an interface with a dot in its name has sysctls".to_string()));
        }
        let is_free =
            fs::metadata(ALLOW_LIST).map_or_else(|error| error.raw_os_error() == Some(sys::ENOENT), |_| false);
        match conf.edition.is_new() && call.command == "ADD" && !is_free {
            true => Err(Unsupported(format!("{} limits the sysctls", ALLOW_LIST))),
            false => Ok(Sysctls(sysctls)),
        }
    }

    /// The process must be in the container's namespace.
    pub fn set(&self, ifname: &str, edition: Edition) -> Result<(), String> {
        for (name, value) in &self.0 {
            let path = path_of(&name.replacen(INTERFACE, ifname, 1), edition)?;
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o644);
            let mut file = options.open(&path).map_err(|error| path_error("open", &path, &error))?;
            file.write_all(value.as_bytes()).map_err(|error| path_error("write", &path, &error))?;
        }
        Ok(())
    }

    pub fn check(&self, ifname: &str, edition: Edition) -> Result<(), String> {
        for (name, value) in &self.0 {
            // Older editions forget the interface here.
            let name = if edition.is_new() { name.replacen(INTERFACE, ifname, 1) } else { name.clone() };
            let path =
                if edition.is_new() { path_of(&name, edition)? } else { format!("/proc/sys/{}", slashes(&name)) };
            let bytes = fs::read(&path).map_err(|error| path_error("open", &path, &error))?;
            let text = String::from_utf8_lossy(&bytes);
            let found = text.strip_suffix('\n').unwrap_or(&text);
            if found != value {
                return Err(format!(
                    "Error: Tuning configured value of {} is {}, current value is {}",
                    path, value, found
                ));
            }
        }
        Ok(())
    }
}

/// A path of the network's part, and no other.
fn path_of(name: &str, edition: Edition) -> Result<String, String> {
    let path = slashes(name);
    match path.starts_with("net/") {
        true => Ok(format!("/proc/sys/{}", path)),
        false => Err(format!("invalid net sysctl key: \"{}\"", if edition.is_new() { &path } else { name })),
    }
}

fn slashes(name: &str) -> String {
    name.replace('.', "/")
}

/// Parts of letters, digits and a few signs, with dots or slashes between them.
fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    name.split(&['.', '/'][..]).all(|part| !part.is_empty() && part.bytes().all(is_letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_paths_of_the_network_only() {
        assert_eq!(
            path_of("net.ipv4.conf.eth0.arp_filter", Edition::V1_9_1).unwrap(),
            "/proc/sys/net/ipv4/conf/eth0/arp_filter"
        );
        assert_eq!(
            path_of("kernel.pid_max", Edition::V1_9_1).unwrap_err(),
            "invalid net sysctl key: \"kernel/pid_max\""
        );
        assert_eq!(
            path_of("kernel.pid_max", Edition::V1_1_1).unwrap_err(),
            "invalid net sysctl key: \"kernel.pid_max\""
        );
        for wrong in ["", "net..a", "net/../kernel.x", ".net.a", "net.a/", "net.a b"] {
            assert!(!is_plain(wrong), "{}", wrong);
        }
    }
}
