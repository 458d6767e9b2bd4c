//! The target `place_sources` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::place_sources(bytes));
