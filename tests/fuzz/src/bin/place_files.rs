//! The target `place_files` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::place_files(bytes));
