//! Clocks that std does not read.

use std::os::raw::{c_int, c_long};
use std::time::{SystemTime, UNIX_EPOCH};

const CLOCK_BOOTTIME: c_int = 7;

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: c_long,
}

extern "C" {
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
}

/// Milliseconds since 1970; 0 for a clock that is set before.
pub fn wall_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Milliseconds since the boot, with the time asleep: the first number of /proc/uptime. 0 when the kernel does not say.
pub fn uptime_ms() -> u64 {
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    let result = unsafe { clock_gettime(CLOCK_BOOTTIME, &mut time) };
    if result == 0 {
        time.seconds as u64 * 1_000 + time.nanoseconds as u64 / 1_000_000
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_that_of_proc() {
        let text = std::fs::read_to_string("/proc/uptime").unwrap();
        let seconds: f64 = text.split(' ').next().unwrap().parse().unwrap();
        let later = uptime_ms() as f64 - seconds * 1_000.0;
        assert!((0.0..2_000.0).contains(&later), "{} ms", later);
        assert!(wall_ms() > 1_700_000_000_000);
    }
}
