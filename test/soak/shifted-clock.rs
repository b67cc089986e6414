//! Stands before the C library of one process and moves its wall clock by the seconds that a file says, so that a step
//! of the clock can be tried without touching the machine's own. The file holds one i64 and is looked at on every call.
//! Built by shifted-clock.ts with the compiler that builds the shim.

#![crate_type = "cdylib"]

use std::os::raw::{c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering};

const CLOCK_REALTIME: c_int = 0;
const CLOCK_REALTIME_COARSE: c_int = 5;
#[cfg(target_arch = "x86_64")]
const SYS_CLOCK_GETTIME: c_long = 228;
#[cfg(target_arch = "aarch64")]
const SYS_CLOCK_GETTIME: c_long = 113;
const O_RDONLY: c_int = 0;
const PROT_READ: c_int = 1;
const MAP_SHARED: c_int = 1;
const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;
/// No machine has been up for so long: a deadline beyond it is one of the wall clock.
const LONGEST_UPTIME_S: i64 = 1_000_000_000;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

#[repr(C)]
pub struct TimeVal {
    seconds: i64,
    microseconds: i64,
}

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn getenv(name: *const c_char) -> *const c_char;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn mmap(at: *mut c_void, length: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

static NO_SHIFT: AtomicI64 = AtomicI64::new(0);
static SHIFT: AtomicPtr<AtomicI64> = AtomicPtr::new(std::ptr::null_mut());
static TIMED_WAIT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// In seconds, as the file says now.
fn shift() -> i64 {
    let mut place = SHIFT.load(Ordering::Acquire);
    if place.is_null() {
        place = unsafe { map_file() };
        SHIFT.store(place, Ordering::Release);
    }
    unsafe { (*place).load(Ordering::Relaxed) }
}

unsafe fn map_file() -> *mut AtomicI64 {
    let none = &NO_SHIFT as *const AtomicI64 as *mut AtomicI64;
    let path = getenv(b"SHIFTED_CLOCK\0".as_ptr().cast());
    if path.is_null() {
        return none;
    }
    let fd = open(path, O_RDONLY);
    if fd < 0 {
        return none;
    }
    // The descriptor stays open: closing it here could close somebody's standard streams in an odd parent.
    let place = mmap(std::ptr::null_mut(), 8, PROT_READ, MAP_SHARED, fd, 0);
    if place as isize == -1 {
        none
    } else {
        place.cast()
    }
}

#[no_mangle]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    let result = syscall(SYS_CLOCK_GETTIME, clock as c_long, time) as c_int;
    if result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        (*time).seconds += shift();
    }
    result
}

#[no_mangle]
pub unsafe extern "C" fn gettimeofday(time: *mut TimeVal, _zone: *mut c_void) -> c_int {
    let mut now = TimeSpec { seconds: 0, nanoseconds: 0 };
    clock_gettime(CLOCK_REALTIME, &mut now);
    (*time).seconds = now.seconds;
    (*time).microseconds = now.nanoseconds / 1000;
    0
}

#[no_mangle]
pub unsafe extern "C" fn time(place: *mut i64) -> i64 {
    let mut now = TimeSpec { seconds: 0, nanoseconds: 0 };
    clock_gettime(CLOCK_REALTIME, &mut now);
    if !place.is_null() {
        *place = now.seconds;
    }
    now.seconds
}

/// The kernel knows nothing of the shift, so a deadline of the shifted clock is put back before it waits.
#[no_mangle]
pub unsafe extern "C" fn pthread_cond_timedwait(cond: *mut c_void, mutex: *mut c_void, until: *const TimeSpec) -> c_int {
    type Wait = unsafe extern "C" fn(*mut c_void, *mut c_void, *const TimeSpec) -> c_int;
    let mut real = TIMED_WAIT.load(Ordering::Acquire);
    if real.is_null() {
        real = dlsym(RTLD_NEXT, b"pthread_cond_timedwait\0".as_ptr().cast());
        TIMED_WAIT.store(real, Ordering::Release);
    }
    let real: Wait = std::mem::transmute(real);
    let mut kernel_time = *until;
    if kernel_time.seconds > LONGEST_UPTIME_S {
        kernel_time.seconds -= shift();
    }
    real(cond, mutex, &kernel_time)
}
