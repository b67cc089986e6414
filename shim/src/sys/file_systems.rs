//! File systems: what kind a path is on.

use std::ffi::CString;
use std::io;
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::check;

/// `struct statfs`, of which only the kind is used.
#[repr(C)]
struct StatFs {
    kind: i64,
    rest: [i64; 31],
}

extern "C" {
    fn statfs(path: *const c_char, facts: *mut StatFs) -> c_int;
}

/// The kernel's number for the kind of file system.
pub fn file_system_of(path: &Path) -> io::Result<i64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut facts = StatFs { kind: 0, rest: [0; 31] };
    check(unsafe { statfs(path.as_ptr(), &mut facts) })?;
    Ok(facts.kind)
}
