//! What a server's transport costs per client and tick, beside renet, quinn and the least that sockets and cipher allow, in one run:
//! `cargo run --release`, in this folder, with `floor`, `tidelock`, `renet` or `quinn` and a number of clients for one alone, and `plain` for no more than one packet to each. Each tick the server sends 1,000 bytes to every client and takes 100 from each.

mod crew;
mod floor;
mod ours;
mod quinn_peer;
mod renet_peer;

use std::time::Duration;

/// Bytes down and up per client and tick.
const DOWN: usize = 1_000;
const UP: usize = 100;
/// Clients served between two looks at the server's socket, so that its buffer holds what they send.
const BATCH: usize = 256;
const TICK: Duration = Duration::from_nanos(16_666_667);
/// Ticks before measuring, and measured.
const WARM_TICKS: usize = 120;
const TICKS: usize = 300;

/// What the server's side of one tick took.
#[derive(Clone, Copy, Default)]
struct Spent {
    send: Duration,
    receive: Duration,
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

fn print(name: &str, clients: usize, spent: Vec<Spent>) {
    let (send, receive) = medians(spent, clients);
    println!("| {name} | {clients} | {send} | {receive} | {} |", send + receive);
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.first().is_none_or(|wanted| wanted == name);
    let count = wanted.get(1).map(|count| count.parse().expect("a number of clients"));
    println!("| transport | clients | send 1,000 B, ns | receive 100 B, ns | together |");
    println!("|---|---|---|---|---|");
    for clients in [64, 1_024, 4_096] {
        if count.is_some_and(|count: usize| count != clients) {
            continue;
        }
        if is_wanted("floor") {
            print("floor: send_to, batched receive, AES-128-GCM", clients, floor::run(clients));
        }
        if is_wanted("tidelock") {
            print("tidelock", clients, ours::run(clients, true, 1));
        }
        if is_wanted("tidelock") && !wanted.contains(&"plain".to_owned()) {
            print("tidelock, standard packets", clients, ours::run(clients, false, 1));
            print("tidelock, 2 packets to each", clients, ours::run(clients, true, 2));
            print("tidelock, 4 packets to each", clients, ours::run(clients, true, 4));
            print("tidelock, nobody says anything", clients, ours::run(clients, true, 0));
        }
        // It takes 1,024 clients at most.
        if is_wanted("renet") && clients <= 1_024 {
            print("renet", clients, renet_peer::run(clients));
        }
        if is_wanted("quinn") && clients <= 1_024 {
            print("quinn datagrams", clients, quinn_peer::run(clients));
        }
    }
}
