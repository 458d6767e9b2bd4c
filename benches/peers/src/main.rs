//! What a server's transport costs per client and tick, beside renet, quinn and the least that sockets and cipher allow:
//! `cargo run --release`, in this folder, with `tidelock`, `renet` or `quinn` and a number of clients for one alone, and `plain`
//! for no more than one packet to each. Each tick the server sends 1,000 bytes to every client and takes 100 from each. Ours and
//! the floor take turns, so that both have the same processor.

mod crew;
mod floor;
mod ours;
mod quinn_peer;
mod renet_peer;

use std::time::Duration;

use floor::Floor;
use ours::Ours;

/// Bytes down and up per client and tick.
const DOWN: usize = 1_000;
const UP: usize = 100;
/// Clients served between two looks at the server's socket, so that its buffer holds what they send.
const BATCH: usize = 256;
const TICK: Duration = Duration::from_nanos(16_666_667);
/// Ticks before measuring, and measured.
const WARM_TICKS: usize = 120;
const TICKS: usize = 300;
/// Ticks of one transport before the other has its turn, and those of them that bring its memory back into the caches.
const TURN: usize = 15;
const TURN_WARM: usize = 3;

/// What the server's side of one tick took.
#[derive(Clone, Copy, Default)]
struct Spent {
    send: Duration,
    receive: Duration,
}

/// A server with its clients connected.
trait Transport {
    /// One tick of all of them.
    fn tick(&mut self) -> Spent;
}

/// Medians per client and tick, in nanoseconds.
fn medians(mut spent: Vec<Spent>, clients: usize) -> (u128, u128) {
    let middle = spent.len() / 2;
    let mut median = |of: fn(&Spent) -> Duration| {
        spent.sort_by_key(of);
        of(&spent[middle]).as_nanos() / clients as u128
    };
    (median(|spent| spent.send), median(|spent| spent.receive))
}

/// Ticks of both, turn by turn.
fn measure(mut both: [&mut dyn Transport; 2]) -> [Vec<Spent>; 2] {
    let mut ticks = [vec![], vec![]];
    for one in &mut both {
        (0..WARM_TICKS).for_each(|_| _ = one.tick());
    }
    while ticks[1].len() < TICKS {
        for (one, ticks) in both.iter_mut().zip(&mut ticks) {
            (0..TURN_WARM).for_each(|_| _ = one.tick());
            ticks.extend((TURN_WARM..TURN).map(|_| one.tick()));
        }
    }
    ticks
}

fn print(name: &str, clients: usize, (send, receive): (u128, u128), floor: Option<(u128, u128)>) {
    let ratio = |of: u128, by: u128| format!("{:.2}", of as f64 / by as f64);
    let ratios = floor.map_or(["".to_owned(), "".to_owned()], |floor| [ratio(send, floor.0), ratio(receive, floor.1)]);
    println!("| {name} | {clients} | {send} | {receive} | {} | {} | {} |", send + receive, ratios[0], ratios[1]);
}

fn ours(name: &str, clients: usize, extended: bool, messages: usize) {
    let (mut floor, mut ours) = (Floor::new(clients), Ours::new(clients, extended, messages));
    let [floor, spent] = measure([&mut floor, &mut ours]).map(|spent| medians(spent, clients));
    ours.check(extended);
    print("floor: send_to, batched receive, AES-128-GCM", clients, floor, None);
    print(name, clients, spent, Some(floor));
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.first().is_none_or(|wanted| wanted == name);
    let count = wanted.get(1).map(|count| count.parse().expect("a number of clients"));
    println!(
        "| transport | clients | send 1,000 B, ns | receive 100 B, ns | together | send by floor | receive by floor |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for clients in [64, 1_024, 4_096] {
        if count.is_some_and(|count: usize| count != clients) {
            continue;
        }
        if is_wanted("tidelock") {
            ours("tidelock", clients, true, 1);
        }
        if is_wanted("tidelock") && !wanted.contains(&"plain".to_owned()) {
            ours("tidelock, standard packets", clients, false, 1);
            ours("tidelock, 2 packets to each", clients, true, 2);
            ours("tidelock, 4 packets to each", clients, true, 4);
            ours("tidelock, nobody says anything", clients, true, 0);
        }
        // It takes 1,024 clients at most.
        if is_wanted("renet") && clients <= 1_024 {
            print("renet", clients, medians(renet_peer::run(clients), clients), None);
        }
        if is_wanted("quinn") && clients <= 1_024 {
            let spent = quinn_peer::run(clients);
            // A machine may be too slow for its clients to answer within a tick's patience.
            if spent.len() * 2 >= TICKS {
                print("quinn datagrams", clients, medians(spent, clients), None);
            } else {
                println!("| quinn datagrams | {clients} | | | | | {} ticks of {TICKS} were answered |", spent.len());
            }
        }
    }
}
