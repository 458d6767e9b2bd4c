use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tidelock::{ClientStats, Protocol};

use super::report::Report;
use super::tally::Tally;
use crate::bots::{Bot, Crowd, Recruit};
use crate::failure::Failure;

/// The swarm's threads, each with its crowd.
pub(crate) struct Crew {
    hands: Vec<Hand>,
}

/// One thread as its coordinator knows it.
struct Hand {
    standing: Arc<Standing>,
    orders: Sender<Order>,
    thread: JoinHandle<Tally>,
}

/// How a crowd stands, for the coordinator to read while it runs.
#[derive(Default)]
struct Standing {
    playing: AtomicUsize,
    over: AtomicUsize,
}

enum Order {
    /// Measure from now on.
    Begin,
    /// Take stock, leave, end.
    Finish,
}

impl Crew {
    /// Spreads the recruits over `threads` threads.
    pub(crate) fn start(
        epoch: Instant,
        protocol: Arc<Protocol>,
        recruits: Vec<Recruit>,
        threads: usize,
    ) -> Result<Self, Failure> {
        let mut shares: Vec<Vec<Recruit>> = (0..threads).map(|_| Vec::new()).collect();
        for (index, recruit) in recruits.into_iter().enumerate() {
            shares[index % threads].push(recruit);
        }
        let crowds = shares.into_iter().map(|share| Crowd::new(epoch, Arc::clone(&protocol), share));
        let hands = crowds.enumerate().map(|(number, crowd)| Hand::start(number, crowd));
        Ok(Self { hands: hands.collect::<Result<_, _>>()? })
    }

    /// Bots in the place, and bots whose session is over.
    pub(crate) fn standing(&self) -> (usize, usize) {
        let sum = |count: fn(&Standing) -> &AtomicUsize| {
            self.hands.iter().map(|hand| count(&hand.standing).load(Ordering::Relaxed)).sum()
        };
        (sum(|standing| &standing.playing), sum(|standing| &standing.over))
    }

    /// Begins to measure.
    pub(crate) fn begin(&self) {
        self.order(|| Order::Begin);
    }

    /// Ends all bots and writes what they found into `report`, whose seconds are known.
    pub(crate) fn finish(self, report: &mut Report) {
        self.order(|| Order::Finish);
        let mut all = Tally::default();
        for hand in self.hands {
            all.merge(hand.thread.join().unwrap_or_default());
        }
        all.write(report);
    }

    fn order(&self, order: impl Fn() -> Order) {
        for hand in &self.hands {
            // A thread that has ended has nothing to do.
            let _ = hand.orders.send(order());
        }
    }
}

impl Hand {
    fn start(number: usize, crowd: Crowd) -> Result<Self, Failure> {
        let standing = Arc::new(Standing::default());
        let (orders, taken) = channel();
        let shared = Arc::clone(&standing);
        let builder = thread::Builder::new().name(format!("bots-{number}"));
        let thread = builder.spawn(move || work(crowd, &shared, &taken));
        Ok(Self { standing, orders, thread: thread.map_err(Failure::system("no thread for the bots"))? })
    }
}

fn work(mut crowd: Crowd, standing: &Standing, orders: &Receiver<Order>) -> Tally {
    let mut before: Vec<ClientStats> = Vec::new();
    loop {
        crowd.step();
        let count = |of: fn(&Bot) -> bool| crowd.bots().iter().filter(|bot| of(bot)).count();
        standing.playing.store(count(Bot::plays), Ordering::Relaxed);
        standing.over.store(count(Bot::is_over), Ordering::Relaxed);
        match orders.try_recv() {
            Ok(Order::Begin) => {
                before = crowd.bots().iter().map(Bot::stats).collect();
                crowd.take_lateness();
            }
            Ok(Order::Finish) => {
                let tally = Tally::of(&mut crowd, &before);
                crowd.leave();
                return tally;
            }
            Err(_) => {}
        }
    }
}
