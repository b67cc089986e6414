//! The namespaces in which the resident hand runs. In a container it serves the host only as far as it shares its
//! namespaces. It logs each missing one once, with the remedy, and works with the others.

use std::fs;

const REMEDIES: [(&str, &str); 3] = [
    ("pid", "hostPID: true, for REAP and for scratch namespaces of plugins"),
    ("net", "hostNetwork: true; until then its plugins work in the network of its pod"),
    ("cgroup", "privileged: true; until then its plugins share its memory limit"),
];

/// Plugins need a PATH to find iptables.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// One sentence for each namespace that is not the host's. Call it after the change of root.
pub fn problems() -> Vec<String> {
    let own_number = fs::read_link("/proc/self").map_or_else(|_| String::new(), |link| link.display().to_string());
    if own_number.is_empty() {
        return vec!["Cannot see any process: /proc is not mounted below --root".to_string()];
    }
    // If the hand may not read init's namespaces, it only compares process IDs.
    let namespace = |process: &str, kind: &str| fs::read_link(format!("/proc/{}/ns/{}", process, kind)).ok();
    let is_foreign = |kind: &str| match (namespace("self", kind), namespace("1", kind)) {
        (Some(own), Some(init)) => own != init,
        _ => kind == "pid" && own_number != std::process::id().to_string(),
    };
    REMEDIES
        .iter()
        .filter(|(kind, _)| is_foreign(kind))
        .map(|(kind, remedy)| format!("This hand is not in the host's {} namespace: its pod needs {}", kind, remedy))
        .collect()
}

pub fn ensure_path() {
    if std::env::var_os("PATH").map_or(true, |path| path.is_empty()) {
        std::env::set_var("PATH", DEFAULT_PATH);
    }
}
