use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Shortest stretch of work that is timed at once.
const SLICE: Duration = Duration::from_millis(2);
/// Stretches of which the median counts.
const SLICES: usize = 61;
/// Longest that one figure takes.
const LONGEST: Duration = Duration::from_secs(4);

/// Processor time of this process, all its threads together.
pub(crate) fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What reading [`spent`] costs.
pub(crate) fn reading() -> Duration {
    let begin = spent();
    (0..1_000).for_each(|_| {
        black_box(spent());
    });
    (spent() - begin) / 1_000
}

/// Work that is repeated: does some and says how many items that was.
pub(crate) type Work<'a> = &'a mut dyn FnMut() -> u64;

/// Nanoseconds per item, the median of many stretches after a first one that is not counted.
pub(crate) fn measure(work: Work<'_>) -> f64 {
    let [figure] = measure_beside([work]);
    figure
}

/// As [`measure`], of several in turns, so that whatever the machine does meanwhile befalls all of them.
pub(crate) fn measure_beside<const N: usize>(mut works: [Work<'_>; N]) -> [f64; N] {
    let begin = spent();
    let mut readings: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(SLICES));
    for round in 0..=SLICES {
        for (work, readings) in works.iter_mut().zip(&mut readings) {
            let reading = slice(work);
            if round > 0 {
                readings.push(reading);
            }
        }
        if round >= 5 && spent() - begin > LONGEST {
            break;
        }
    }
    readings.map(|mut readings| median(&mut readings))
}

fn slice(work: &mut Work<'_>) -> f64 {
    let begin = spent();
    let mut items = 0;
    loop {
        items += black_box(work());
        let time = spent() - begin;
        if time >= SLICE {
            return time.as_secs_f64() * 1e9 / items.max(1) as f64;
        }
    }
}

/// The middle of some readings.
pub(crate) fn median(readings: &mut [f64]) -> f64 {
    readings.sort_by(f64::total_cmp);
    readings[readings.len() / 2]
}
