//! The target `sealed_to_client` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::sealed_to_client(bytes));
