//! Sysctls of the namespace in which this process is.

use std::fs;
use std::io;

/// Writes a value. The name has slashes, because interfaces may have dots in theirs.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .open(path_of(name))
        .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
}

/// The value without its newline.
pub fn get(name: &str) -> io::Result<String> {
    let mut value = fs::read_to_string(path_of(name))?;
    value.pop();
    Ok(value)
}

/// A sysctl without which a plugin works too: the kernel may lack it.
pub fn try_set(name: &str, value: &str) {
    let _the_kernel_may_lack_it = set(name, value);
}

/// Turns on forwarding. An error comes with the path.
pub fn enable_forwarding(is_ipv4: bool) -> Result<(), String> {
    let name = if is_ipv4 { "net/ipv4/ip_forward" } else { "net/ipv6/conf/all/forwarding" };
    if get(name).map_or(false, |value| value.trim() == "1") {
        return Ok(());
    }
    set(name, "1").map_err(|error| crate::builtin::go::words::path_error("open", &path_of(name), &error))
}

fn path_of(name: &str) -> String {
    format!("/proc/sys/{}", name)
}
