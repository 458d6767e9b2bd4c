use tidelock_replication::ids::Slot;

use crate::motion::Crowd;
use crate::table::{Figure, Table};
use crate::watch::{median, spent};

const TICKS: usize = 40;

/// Interest of 1,000 viewers among moving subjects, the grid's upkeep included.
pub(crate) fn run(table: &mut Table) {
    let cases = [
        ("interest per found, 100 of 10,000", 10_000, 100, Some(5.0)),
        ("interest per found, 100 of 1,000", 1_000, 100, Some(5.0)),
        ("interest per found, 400 of 1,000", 1_000, 400, None),
    ];
    for (what, subjects, seen, target) in cases {
        let mut crowd = Crowd::new(subjects, 1_000, seen, Some(256.0));
        let (mut per_found, mut upkeep) = (Vec::new(), Vec::new());
        for tick in 0..TICKS {
            crowd.wander();
            let begin = spent();
            for (slot, position) in crowd.positions.iter().enumerate() {
                crowd.grid.move_to(Slot(slot as u32), *position);
            }
            let kept = spent();
            for player in 0..crowd.players.len() {
                crowd.look(player);
            }
            let end = spent();
            let found: usize = crowd.players.iter().map(|player| player.visible.set().len()).sum();
            if tick > 4 {
                per_found.push((end - begin).as_secs_f64() * 1e9 / found as f64);
                upkeep.push((kept - begin).as_secs_f64() * 1e9 / found as f64);
            }
        }
        let figure = Figure::new(what, median(&mut per_found), "ns").beside("of it the grid's", median(&mut upkeep));
        table.row(Figure { target, ..figure });
    }
}
