//! The target `strangers` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::strangers(bytes));
