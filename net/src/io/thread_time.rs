use std::time::Duration;

/// Processor time the calling thread has used since it began; zero where the system does not tell.
#[must_use]
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};

        clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_time() {
        let before = thread_time();
        let mut sum = 0_u64;
        // A bound on the turns, not on time.
        for turn in 0..1_000_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(turn));
            if turn % 1_000 == 0 && thread_time() > before {
                return;
            }
        }
        panic!("no time passed");
    }
}
