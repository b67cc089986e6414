//! The command line. A runtime passes no arguments: it uses the environment and stdin.

use std::os::unix::fs::chroot;

use crate::builtin::Edition;
use crate::cni::conf::DEFAULT_SOCKET_DIR;
use crate::gate::check::DEFAULT_FILE;
use crate::sys;

pub const HELP: &str = "\
levee-shim: the hands of Levee

Started by a container runtime, without arguments, it is a CNI plugin: it reads CNI_* variables and a network
configuration on stdin, asks the daemon what to do, does it, and prints the result. Under the name passthru it is the
plugin of that name instead, which starts an auxiliary chain with an empty result.

Options:
  --resident              serve as the node's resident hand until SIGTERM
    --root DIR            change the root folder to DIR first; all other paths are looked up inside it
    --socket-dir DIR      folder of the daemon's socket, after the change of root (default /run/levee)
    --delegate-memory N   memory limit in bytes for all plugins together
    --probe-socket FILE   answer probes on this socket, made before the change of root
  --probe FILE            ask the resident hand on its --probe-socket whether it works: exit 0 if it answers, else 1
  gate check              say whether this node may be rebooted now: exit 0 if it may, else 1, with one line why
    --file FILE           the daemon's gateFile on the host (default /run/levee/gate)
  plugin NAME [VERSION]   act as the built-in CNI plugin NAME, as that of the upstream release VERSION (1.1.1 or 1.9.1):
                          exit 75 without doing anything if it does not know a part of the configuration
  --version, -v           print the version
  --help, -h              print this
";

pub enum Options {
    Cni,
    Version,
    Help,
    Resident(ResidentOptions),
    Probe(String),
    Plugin(String, Edition),
    /// A wrong command line is a reason to deny.
    Gate(Result<String, String>),
}

#[derive(Debug, Default, PartialEq)]
pub struct ResidentOptions {
    pub root: Option<String>,
    pub socket_dir: String,
    pub plugin_memory: Option<u64>,
    pub probe_socket: Option<String>,
}

impl Options {
    pub fn read(arguments: &[String]) -> Result<Options, String> {
        match arguments.first().map(String::as_str) {
            None => Ok(Options::Cni),
            Some("--version" | "-v") => Ok(Options::Version),
            Some("--help" | "-h") => Ok(Options::Help),
            Some("--resident") => ResidentOptions::read(&arguments[1..]).map(Options::Resident),
            Some("--probe") => read_probe(&arguments[1..]).map(Options::Probe),
            Some("plugin") => read_plugin(&arguments[1..]),
            Some("gate") => Ok(Options::Gate(read_gate(&arguments[1..]))),
            Some(other) => Err(format!("Cannot use the option {:?}: see --help", other)),
        }
    }
}

impl ResidentOptions {
    fn read(arguments: &[String]) -> Result<ResidentOptions, String> {
        let mut options = ResidentOptions { socket_dir: DEFAULT_SOCKET_DIR.to_string(), ..ResidentOptions::default() };
        for pair in arguments.chunks(2) {
            let (name, value) = match pair {
                [name, value] => (name.as_str(), value.clone()),
                _ => return Err(format!("Cannot use the option {:?} without a value", pair[0])),
            };
            let is_path = is_absolute(&value);
            match (name, value.parse::<u64>()) {
                ("--root", _) if is_path => options.root = Some(value),
                ("--socket-dir", _) if is_path => options.socket_dir = value,
                ("--probe-socket", _) if is_path => options.probe_socket = Some(value),
                ("--delegate-memory", Ok(bytes)) if bytes > 0 => options.plugin_memory = Some(bytes),
                ("--root" | "--socket-dir" | "--probe-socket", _) => return Err(no_path(name, &value)),
                ("--delegate-memory", _) => {
                    return Err(format!(
                        "Cannot use {} as it must be a number above 0: current value is {:?}",
                        name, value
                    ))
                }
                _ => return Err(format!("Cannot use the option {:?}: see --help", name)),
            }
        }
        Ok(options)
    }

    pub fn enter_root(&self) -> Result<(), String> {
        match &self.root {
            None => Ok(()),
            Some(root) => chroot(root)
                .and_then(|()| std::env::set_current_dir("/"))
                .map_err(|error| format!("Cannot change the root folder to {}: {}", root, sys::error_text(&error))),
        }
    }
}

fn read_probe(arguments: &[String]) -> Result<String, String> {
    match arguments {
        [path] if is_absolute(path) => Ok(path.clone()),
        [other] => Err(no_path("--probe", other)),
        _ => Err("Cannot use the option \"--probe\": it needs exactly one value".to_string()),
    }
}

fn read_plugin(arguments: &[String]) -> Result<Options, String> {
    let (name, edition) = match arguments {
        [name] => (name, Some(Edition::V1_9_1)),
        [name, edition] => (name, Edition::parse(edition)),
        _ => return Err("Cannot act as a plugin: the arguments must be NAME [VERSION]".to_string()),
    };
    let edition = edition.ok_or_else(|| {
        format!(
            "Cannot act as a plugin of this version as it must be 1.1.1 or 1.9.1: current value is {:?}",
            arguments[1]
        )
    })?;
    Ok(Options::Plugin(name.clone(), edition))
}

fn read_gate(arguments: &[String]) -> Result<String, String> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => Ok(DEFAULT_FILE.to_string()),
        ["check", "--file", path] if is_absolute(path) => Ok(path.to_string()),
        ["check", "--file", other] => Err(no_path("--file", other)),
        _ => Err(format!("Cannot use the arguments {:?} of gate: they must be check [--file FILE]", arguments)),
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') && !path.contains('\0')
}

fn no_path(option: &str, value: &str) -> String {
    format!("Cannot use {} as it must be an absolute path: current value is {:?}", option, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(arguments: &[&str]) -> Result<ResidentOptions, String> {
        ResidentOptions::read(&arguments.iter().map(|argument| argument.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn options_of_the_resident_hand() {
        let some = resident(&["--root", "/host", "--socket-dir", "/run/x", "--delegate-memory", "1000"]).unwrap();
        let expected = ResidentOptions {
            root: Some("/host".into()),
            socket_dir: "/run/x".into(),
            plugin_memory: Some(1000),
            probe_socket: None,
        };
        assert_eq!(some, expected);
        assert_eq!(resident(&["--probe-socket", "/p"]).unwrap().probe_socket, Some("/p".into()));
        assert_eq!(resident(&[]).unwrap().socket_dir, "/run/levee");
        for wrong in [
            &["--root"][..],
            &["--root", "host"],
            &["--delegate-memory", "0"],
            &["--delegate-memory", "1Gi"],
            &["--probe-socket", "p"],
            &["--x", "1"],
        ] {
            assert!(resident(wrong).is_err(), "{:?}", wrong);
        }
    }

    #[test]
    fn a_gate_names_at_most_one_file() {
        let gate =
            |arguments: &[&str]| read_gate(&arguments.iter().map(|argument| argument.to_string()).collect::<Vec<_>>());
        assert_eq!(gate(&["check"]), Ok("/run/levee/gate".to_string()));
        assert_eq!(gate(&["check", "--file", "/run/g"]), Ok("/run/g".to_string()));
        for wrong in [&[][..], &["look"], &["check", "--file"], &["check", "--file", "g"], &["check", "x", "/run/g"]] {
            assert!(gate(wrong).is_err(), "{:?}", wrong);
        }
    }

    #[test]
    fn a_probe_names_one_socket() {
        let probe =
            |arguments: &[&str]| read_probe(&arguments.iter().map(|argument| argument.to_string()).collect::<Vec<_>>());
        assert_eq!(probe(&["/run/p.sock"]), Ok("/run/p.sock".to_string()));
        for wrong in [&[][..], &["p.sock"], &["/run/p.sock", "/run/q.sock"]] {
            assert!(probe(wrong).is_err(), "{:?}", wrong);
        }
    }
}
