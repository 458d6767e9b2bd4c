//! Many real clients over real UDP, and a report of how they fared (T-42).

mod crew;
mod flood;
mod junk;
mod progress;
mod report;
mod tally;

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tidelock::net::emulator::LinkConfig;
use tidelock::{ClientConfig, PlaceCache};

use crate::args::SwarmArgs;
use crate::bad_link::BadLink;
use crate::bots::Recruit;
use crate::failure::Failure;
use crate::http;
use crate::key::private_key;
use crate::serve::metrics_address;
use crate::token::local_token;
use crew::Crew;
use flood::Flood;
use progress::Progress;
pub(crate) use report::Spread;
use report::{LinkReport, Report};

/// Bots that connect each second.
const JOINS_PER_S: u32 = 100;
/// How long the last of them may take to join.
const JOIN_PATIENCE: Duration = Duration::from_secs(15);
/// How often the coordinator looks at the bots.
const LOOK: Duration = Duration::from_millis(100);

/// Carries out `swarm`.
pub(crate) fn run(args: &SwarmArgs) -> Result<(), Failure> {
    check(args)?;
    let metrics = metrics_address(&args.metrics)?;
    // A server that does not answer is said at once, not after everyone has joined.
    metrics.map(|address| server_word(address, 1.0)).transpose()?;
    let link = link(args);
    let emulated = link != LinkConfig::default();
    let relay = if emulated { Some(BadLink::start(args.server, link, args.seed)?) } else { None };
    let through = relay.as_ref().map(BadLink::address);
    let epoch = Instant::now();
    let crew = Crew::start(epoch, args.controller.protocol(), recruits(args, through)?, threads(args))?;
    let mut report = Report {
        bots: usize::from(args.bots),
        link: LinkReport { latency_ms: args.latency_ms, jitter_ms: args.jitter_ms, loss: args.loss },
        ..Report::default()
    };
    let mut progress = Progress::new(!args.json);
    await_joins(args, &crew, &mut progress)?;
    let before = metrics.map(|address| server_word(address, 1.0)).transpose()?;
    let flood = (args.junk > 0).then(|| Flood::start(args.server, args.junk, args.bots, args.seed)).transpose()?;
    let measured = measure(args, &crew, &mut progress);
    let flooded = flood.map(Flood::end).unwrap_or_default();
    (report.junk, report.junk_time_s) = (flooded.datagrams, flooded.time.as_secs_f64());
    progress.end();
    report.seconds = measured;
    report.server = match (metrics, before) {
        (Some(address), Some(before)) => Some(since(server_word(address, measured)?, &before)),
        _ => None,
    };
    crew.finish(&mut report);
    if relay.is_some() {
        // The bots' goodbyes pass the emulated link before it goes, else the server waits for them in vain.
        thread::sleep(link.latency + link.jitter + LOOK);
    }
    say(args, &report)
}

fn check(args: &SwarmArgs) -> Result<(), Failure> {
    let rules = [
        ("--seconds", args.seconds > 0.0 && args.seconds <= 86_400.0, "above 0 and at most 86400"),
        ("--latency-ms", (0.0..=5000.0).contains(&args.latency_ms), "0 to 5000"),
        ("--jitter-ms", (0.0..=5000.0).contains(&args.jitter_ms), "0 to 5000"),
        ("--loss", (0.0..=1.0).contains(&args.loss), "0 to 1, a share: 0.02 is 2 %"),
    ];
    let broken = rules.iter().find(|(_, holds, _)| !holds);
    broken.map_or(Ok(()), |(option, _, allowed)| Err(Failure::Server(format!("{option} must be {allowed}"))))
}

fn link(args: &SwarmArgs) -> LinkConfig {
    LinkConfig {
        latency: Duration::from_secs_f64(args.latency_ms / 1000.0),
        jitter: Duration::from_secs_f64(args.jitter_ms / 1000.0),
        loss: args.loss,
        ..LinkConfig::default()
    }
}

fn threads(args: &SwarmArgs) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if args.threads > 0 { usize::from(args.threads) } else { (cores / 2).max(1) }
}

fn recruits(args: &SwarmArgs, through: Option<SocketAddr>) -> Result<Vec<Recruit>, Failure> {
    let private_key = private_key(args.key_file.as_deref())?;
    let places = Arc::new(PlaceCache::new());
    let any = if args.server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let local = if args.server.ip().is_loopback() {
        SocketAddr::new(args.server.ip(), 0)
    } else {
        any.parse().expect("a constant address")
    };
    let recruit = |index: u16| {
        // Two swarms at one server must not share ids.
        let client_id = u64::from(std::process::id()) << 32 | args.seed << 16 & 0xffff_0000 | u64::from(index);
        let token = local_token(&private_key, client_id, args.server)?;
        let token = match through {
            Some(address) => token.through(vec![address]).map_err(|why| Failure::Token(why.to_string()))?,
            None => token,
        };
        let config = ClientConfig {
            name: format!("bot {index}"),
            bind: local,
            draw: !args.thin,
            places: Arc::clone(&places),
            ..ClientConfig::default()
        };
        let joins_at = Duration::from_secs(1) * u32::from(index) / JOINS_PER_S;
        Ok(Recruit { config, token, seed: args.seed.wrapping_mul(1_000_003) + u64::from(index), joins_at })
    };
    (0..args.bots).map(recruit).collect()
}

/// Waits until every bot plays; when none can, says what to do about it.
fn await_joins(args: &SwarmArgs, crew: &Crew, progress: &mut Progress) -> Result<(), Failure> {
    let bots = usize::from(args.bots);
    let patience = JOIN_PATIENCE + Duration::from_secs(1) * u32::from(args.bots) / JOINS_PER_S;
    let begun = Instant::now();
    while begun.elapsed() < patience {
        let (playing, over) = crew.standing();
        progress.show(&format!("{playing} of {bots} bots in the place"));
        if playing + over >= bots {
            break;
        }
        thread::sleep(LOOK);
    }
    match crew.standing() {
        (0, _) => Err(Failure::Server(format!(
            "none of {bots} bots could join {}. Is `tidelock serve` running there, with the same key (--key-file)?",
            args.server
        ))),
        _ => Ok(()),
    }
}

/// Lets the run pass and returns the seconds it took.
fn measure(args: &SwarmArgs, crew: &Crew, progress: &mut Progress) -> f64 {
    crew.begin();
    let begun = Instant::now();
    let all = Duration::from_secs_f64(args.seconds);
    while let Some(left) = all.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        let (playing, _) = crew.standing();
        progress.show(&format!("{playing} bots, {:.0} s to go", left.as_secs_f64().ceil()));
        thread::sleep(LOOK.min(left));
    }
    begun.elapsed().as_secs_f64()
}

/// What the server says of its last `seconds`.
fn server_word(address: SocketAddr, seconds: f64) -> Result<Value, Failure> {
    let refused = |why: String| {
        let hint = "Give its address with --metrics, or --metrics off for a report without the server's side";
        Failure::Server(format!("the server's metrics at {address} cannot be had: {why}. {hint}"))
    };
    let body =
        http::get(address, &format!("/metrics.json?seconds={seconds:.3}")).map_err(|why| refused(why.to_string()))?;
    serde_json::from_slice(&body).map_err(|why| refused(why.to_string()))
}

/// Counters of `after` less those of `before`; everything else as `after` has it.
fn since(mut after: Value, before: &Value) -> Value {
    for name in [
        "corrections",
        "refusals",
        "replays",
        "replayed_frames",
        "inexact",
        "ticks_skipped",
        "ticks_over_budget",
        "network",
    ] {
        if let Some(counted) = after.get_mut(name) {
            subtract(counted, before.get(name).unwrap_or(&Value::Null));
        }
    }
    after
}

fn subtract(after: &mut Value, before: &Value) {
    if let Some(map) = after.as_object_mut() {
        map.iter_mut().for_each(|(name, count)| subtract(count, before.get(name).unwrap_or(&Value::Null)));
    } else if let (Some(a), b) = (after.as_u64(), before.as_u64().unwrap_or_default()) {
        *after = Value::from(a.saturating_sub(b));
    }
}

fn say(args: &SwarmArgs, report: &Report) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(report).expect("a report is plain data");
    if let Some(path) = &args.report {
        fs::write(path, &json).map_err(|why| Failure::Write { path: path.clone(), why })?;
    }
    if args.json {
        println!("{json}");
    } else {
        println!("{report}");
    }
    let blemishes = report.blemishes();
    if args.strict && !blemishes.is_empty() { Err(Failure::Unclean(blemishes.join(", "))) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counters_are_of_the_run_and_measurements_stay() {
        let before = json!({ "replays": 5, "corrections": { "a": 1, "b": 2 }, "tick_ms": { "p50": 9.0 } });
        let after = json!({ "replays": 25, "corrections": { "a": 1, "b": 7, "c": 3 }, "tick_ms": { "p50": 1.0 } });
        let wanted = json!({ "replays": 20, "corrections": { "a": 0, "b": 5, "c": 3 }, "tick_ms": { "p50": 1.0 } });
        assert_eq!(since(after, &before), wanted);
    }
}
