//! Sysctls of the namespace in which this process is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};

use crate::builtin::go::words::path_error;

/// Writes a value. The name has slashes, because interfaces may have dots in theirs. The error is in Go's words.
pub fn set(name: &str, value: &str) -> Result<(), String> {
    let path = path_of(name);
    let mut file = OpenOptions::new().write(true).open(&path).map_err(|error| path_error("open", &path, &error))?;
    file.write_all(value.as_bytes()).map_err(|error| path_error("write", &path, &error))
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

/// Turns on forwarding.
pub fn enable_forwarding(is_ipv4: bool) -> Result<(), String> {
    let name = if is_ipv4 { "net/ipv4/ip_forward" } else { "net/ipv6/conf/all/forwarding" };
    if get(name).map_or(false, |value| value.trim() == "1") {
        return Ok(());
    }
    set(name, "1")
}

fn path_of(name: &str) -> String {
    format!("/proc/sys/{}", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_written_have_gos_words() {
        assert_eq!(set("net/no/such", "1").unwrap_err(), "open /proc/sys/net/no/such: no such file or directory");
        assert_eq!(set("kernel/ostype", "1").map_err(|why| why.contains(" /proc/sys/kernel/ostype: ")), Err(true));
        assert_eq!(get("kernel/ostype").unwrap(), "Linux");
    }
}
