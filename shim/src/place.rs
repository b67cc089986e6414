//! Where the resident hand finds itself. In a container it serves the host only as far as it shares the host's
//! namespaces; what is lacking is said once, with its remedy, and the rest goes on.

use std::fs;

const REMEDIES: [(&str, &str); 3] = [
    ("pid", "hostPID: true; REAP and a plugin's scratch namespace need it"),
    ("net", "hostNetwork: true; plugins that it runs work in the network of its pod until then"),
    ("cgroup", "privileged: true; plugins share its own memory limit until then"),
];

/// A plugin that finds no PATH does not find iptables either.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// One sentence for each namespace that is not that of the host, seen from the host's own root folder.
pub fn shortcomings() -> Vec<String> {
    let own_number = fs::read_link("/proc/self").map_or_else(|_| String::new(), |link| link.display().to_string());
    if own_number.is_empty() {
        return vec!["Cannot see any process: /proc is not mounted below --root".to_string()];
    }
    // Where init's namespaces may not be looked at, nothing is claimed about them.
    let namespace = |process: &str, kind: &str| fs::read_link(format!("/proc/{}/ns/{}", process, kind)).ok();
    let is_strange = |kind: &str| match (namespace("self", kind), namespace("1", kind)) {
        (Some(own), Some(init)) => own != init,
        _ => kind == "pid" && own_number != std::process::id().to_string(),
    };
    REMEDIES
        .iter()
        .filter(|(kind, _)| is_strange(kind))
        .map(|(kind, remedy)| format!("This hand is not in the host's {} namespace: its pod needs {}", kind, remedy))
        .collect()
}

pub fn ensure_path() {
    if std::env::var_os("PATH").map_or(true, |path| path.is_empty()) {
        std::env::set_var("PATH", DEFAULT_PATH);
    }
}
