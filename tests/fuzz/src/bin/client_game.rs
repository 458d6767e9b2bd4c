//! The target `client_game` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tidelock_fuzz::client_game(bytes));
