//! Preloaded into offcut by the attack `clock`: adds `TORTURE_CLOCK_OFFSET` and a random number of up to `TORTURE_CLOCK_JUMP`
//! seconds to the time of day.

use std::ffi::{c_char, c_int, c_long};
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn getenv(name: *const c_char) -> *const c_char;
    fn atoll(text: *const c_char) -> i64;
}

const CLOCK_GETTIME: c_long = if cfg!(target_arch = "x86_64") { 228 } else { 113 };
const TIME_OF_DAY: c_int = 0;

fn number(name: &'static [u8]) -> i64 {
    let value = unsafe { getenv(name.as_ptr().cast()) };
    if value.is_null() { 0 } else { unsafe { atoll(value) } }
}

/// # Safety
///
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int {
    static READINGS: AtomicU64 = AtomicU64::new(1);
    let result = unsafe { syscall(CLOCK_GETTIME, clock, time) };
    if clock == TIME_OF_DAY && result == 0 {
        let random = READINGS.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let jump = number(b"TORTURE_CLOCK_JUMP\0");
        let jump = if jump > 0 { random as i64 % (2 * jump) - jump } else { 0 };
        unsafe { (*time)[0] += number(b"TORTURE_CLOCK_OFFSET\0") + jump };
    }
    result as c_int
}
