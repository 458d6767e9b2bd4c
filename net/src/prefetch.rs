//! Memory asked for before it is read: a thousand connections do not fit the nearer caches.
#![allow(unsafe_code, reason = "the processor's hint has no safe form")]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for all of a value's own memory, not for what it points to. It waits for nothing, so the lines of many values arrive
/// together; reading them one after the other, each when it is needed, made receiving among 1,024 connections a fifth slower
/// (`benches/peers`). Does nothing where the processor is not x86-64.
#[inline]
pub(crate) fn prefetch<T: ?Sized>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    let bytes = size_of_val(value);
    (0..bytes).step_by(LINE).for_each(|at| hint(start.wrapping_add(at)));
    if bytes > 0 {
        hint(start.wrapping_add(bytes - 1));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn hint(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is a hint that neither reads nor writes as far as the program can tell and never faults, whatever the
    // address; every x86-64 processor has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn hint(_at: *const u8) {}
