//! The target `sealed_to_server` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::sealed_to_server(bytes));
