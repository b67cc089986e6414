//! One CNI call as it arrives: variables from the environment and the configuration on stdin, with the checks of skel.

use std::env;
use std::fs;
use std::time::Instant;

use crate::base::clock::ms;
use crate::base::identity::Inode;
use crate::base::trace::Trace;
use crate::cni::cni_error::{CniError, INVALID_CONFIG, INVALID_ENVIRONMENT, INVALID_NETNS, IO_FAILURE};
use crate::cni::conf::{is_identifier, read_conf, Conf};
use crate::cni::verb::Verb;
use crate::cni::versions::NEWEST_VERSION;
use crate::net::netns::{self, NoNetns, OpenNetns};
use crate::sys;

/// Far above any real configuration, and small enough for hundreds of waiting shims to hold one each.
const CONFIG_BYTES_MAX: usize = 256 * 1024;
/// The shim reads up to here, so that the error can name the size of an oversized configuration.
const CONFIG_BYTES_COUNTED: usize = 64 * 1024 * 1024;
/// A working runtime hands the configuration over at once.
const CONFIG_WAIT_MS: u64 = 30_000;
/// The kernel's IFNAMSIZ without the final zero byte.
const IFNAME_BYTES_MAX: usize = 15;

pub struct Request {
    pub verb: Verb,
    pub container_id: String,
    pub netns: String,
    pub ifname: String,
    pub cni_args: String,
    pub cni_path: String,
    /// Open to the end of the call, so that the kernel cannot give its inode number to another one meanwhile.
    pub netns_open: Option<OpenNetns>,
    /// The shim's own namespace is the host's. The daemon compares with it, and cannot see the host's /proc itself.
    pub own_netns_inode: Option<Inode>,
    /// CNI_NETNS_OVERRIDE, which skel knows: the caller means its own namespace.
    pub may_be_own_netns: bool,
    pub trace: Trace,
    pub config: Vec<u8>,
    pub conf: Conf,
}

/// The error comes with the CNI version to answer in.
pub fn read_request(command: &str) -> Result<Request, (String, CniError)> {
    let newest = |error: CniError| (NEWEST_VERSION.to_string(), error);
    let verb = Verb::parse(command)
        .ok_or_else(|| newest(CniError::new(INVALID_ENVIRONMENT, format!("unknown CNI_COMMAND: {}", command))))?;
    check_present(verb).map_err(newest)?;
    let config = read_config().map_err(newest)?;
    let conf = read_conf(&config, verb)?;
    let version = conf.cni_version.clone();
    let in_version = |error: CniError| (version.clone(), error);
    let netns = variable("CNI_NETNS").map_err(in_version)?;
    let request = Request {
        verb,
        container_id: variable("CNI_CONTAINERID").map_err(in_version)?,
        ifname: variable("CNI_IFNAME").map_err(in_version)?,
        cni_args: variable("CNI_ARGS").map_err(in_version)?,
        cni_path: variable("CNI_PATH").map_err(in_version)?,
        netns_open: look_at_netns(verb, &netns).map_err(in_version)?,
        own_netns_inode: fs::metadata("/proc/self/ns/net").ok().map(|facts| Inode::of(&facts)),
        may_be_own_netns: is_override_set(),
        netns,
        trace: Trace::from_env(),
        config,
        conf,
    };
    if verb.is_about_container() {
        check_container_id(&request.container_id).map_err(in_version)?;
        check_ifname(&request.ifname).map_err(in_version)?;
    }
    check_foreign_netns(&request).map_err(in_version)?;
    Ok(request)
}

/// Names all missing variables in one error.
fn check_present(verb: Verb) -> Result<(), CniError> {
    let needed = [
        ("CNI_CONTAINERID", verb.is_about_container()),
        ("CNI_NETNS", matches!(verb, Verb::Add | Verb::Check)),
        ("CNI_IFNAME", verb.is_about_container()),
        // DEL uses the path that the daemon kept from ADD, and STATUS must not fail because of a missing path.
        ("CNI_PATH", matches!(verb, Verb::Add | Verb::Check | Verb::Gc)),
    ];
    let is_missing = |name: &str| env::var_os(name).map_or(true, |value| value.is_empty());
    let missing: Vec<&str> =
        needed.iter().filter(|(name, needed)| *needed && is_missing(name)).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(CniError::new(INVALID_ENVIRONMENT, format!("required env variables [{}] missing", missing.join(","))))
}

fn variable(name: &str) -> Result<String, CniError> {
    match env::var(name) {
        Ok(value) => Ok(value),
        Err(env::VarError::NotPresent) => Ok(String::new()),
        Err(env::VarError::NotUnicode(_)) => {
            Err(CniError::new(INVALID_ENVIRONMENT, format!("Cannot use {} as it is not UTF-8", name)))
        }
    }
}

fn check_container_id(id: &str) -> Result<(), CniError> {
    if is_identifier(id) {
        return Ok(());
    }
    Err(CniError::new(INVALID_ENVIRONMENT, "invalid characters in containerID").with_details(id))
}

fn check_ifname(name: &str) -> Result<(), CniError> {
    let problem = if name.len() > IFNAME_BYTES_MAX {
        "interface name is too long: it should be less than 16 characters"
    } else if name == "." || name == ".." {
        "interface name is . or .."
    } else if name.chars().any(|character| character == '/' || character == ':' || character.is_whitespace()) {
        "interface name contains / or : or whitespace characters"
    } else {
        return Ok(());
    };
    Err(CniError::new(INVALID_ENVIRONMENT, problem).with_details(name))
}

/// None when it cannot be opened; the daemon says so. For DEL, something else at the path is a namespace that is gone.
fn look_at_netns(verb: Verb, path: &str) -> Result<Option<OpenNetns>, CniError> {
    if path.is_empty() {
        return Ok(None);
    }
    match netns::look(path, verb == Verb::Add) {
        Ok(open) => Ok(Some(open)),
        Err(NoNetns::Other(kind)) if matches!(verb, Verb::Add | Verb::Check) => {
            let message =
                format!("Cannot use CNI_NETNS as it must be the path of a network namespace: {} is {}", path, kind);
            Err(CniError::new(INVALID_NETNS, message))
        }
        Err(NoNetns::Other(_) | NoNetns::Closed(_)) => Ok(None),
    }
}

fn is_override_set() -> bool {
    env::var("CNI_NETNS_OVERRIDE").map_or(false, |value| value == "1" || value.eq_ignore_ascii_case("true"))
}

/// skel checks this after the plugin ran; the shim checks before. DEL is exempt, because it must succeed in the end.
fn check_foreign_netns(request: &Request) -> Result<(), CniError> {
    if request.verb != Verb::Add || request.may_be_own_netns || request.netns_open.is_none() {
        return Ok(());
    }
    if request.netns_open.as_ref().map(|open| open.identity.inode) == request.own_netns_inode {
        let message = "plugin's netns and netns from CNI_NETNS should not be the same";
        return Err(CniError::new(INVALID_NETNS, message).with_details(&request.netns));
    }
    Ok(())
}

/// Reads stdin to its end, within limits of size and time.
fn read_config() -> Result<Vec<u8>, CniError> {
    let until = Instant::now() + ms(CONFIG_WAIT_MS);
    let mut config = Vec::new();
    let mut size = 0;
    let mut chunk = [0u8; 16 * 1024];
    loop {
        let mut ready = [sys::PollFd { fd: 0, events: sys::POLLIN, revents: 0 }];
        sys::poll_fds(&mut ready, crate::base::clock::ms_until(until) as i32);
        if ready[0].revents == 0 {
            if Instant::now() < until {
                continue;
            }
            let message =
                format!("Cannot read the network configuration: stdin did not end within {} ms", CONFIG_WAIT_MS);
            return Err(CniError::new(IO_FAILURE, message));
        }
        match sys::read_some(0, &mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                size += count;
                let room = CONFIG_BYTES_MAX.saturating_sub(config.len());
                config.extend_from_slice(&chunk[..count.min(room)]);
                if size > CONFIG_BYTES_COUNTED {
                    break;
                }
            }
            Err(error) if matches!(error.raw_os_error(), Some(sys::EINTR | sys::EAGAIN)) => {}
            Err(error) => {
                let message = format!("Cannot read the network configuration from stdin: {}", sys::error_text(&error));
                return Err(CniError::new(IO_FAILURE, message));
            }
        }
    }
    if size > CONFIG_BYTES_MAX {
        let message = format!(
            "Cannot use the network configuration as it must have at most {} bytes: its size is {}",
            CONFIG_BYTES_MAX, size
        );
        return Err(CniError::new(INVALID_CONFIG, message));
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_names_are_checked_as_the_kernel_does() {
        for good in ["eth0", "net1", "a23456789012345", "é"] {
            assert!(check_ifname(good).is_ok(), "{}", good);
        }
        for bad in [".", "..", "a/b", "a:b", "a b", "a\tb", "a234567890123456"] {
            assert_eq!(check_ifname(bad).unwrap_err().code, 4, "{}", bad);
        }
    }

    #[test]
    fn container_ids_are_checked() {
        assert!(check_container_id("0a_B.c-9").is_ok());
        for bad in ["", "-a", ".a", "_a", "a/b", "a b", "é"] {
            assert!(check_container_id(bad).is_err(), "{}", bad);
        }
    }
}
