use tidelock_replication::ids::{Generation, Placed, PlayerId, Slot};
use tidelock_replication::instance::{Color, PartProperties};
use tidelock_replication::publish::{InstancePublisher, PublishOutput};
use tidelock_sim::Tick;

use crate::place::plain;
use crate::table::{Figure, Table};
use crate::watch::{measure, median, spent};

/// Parts that change in a tick.
const CHANGING: usize = 1_000;

/// Parts whose properties change, and a place of which none has.
pub(crate) fn run(table: &mut Table) {
    let place = plain(50_000, 8.0);
    let mut publisher = InstancePublisher::new(place.clone(), Generation(1));
    let mut parts: Vec<(Placed, PartProperties)> = place
        .parts()
        .take(CHANGING)
        .enumerate()
        .map(|(slot, part)| (Placed { slot: Slot(slot as u32), id: part.id }, part.properties))
        .collect();
    let mut output = PublishOutput::new();
    let (mut marked, mut encoded, mut copied, mut copy) = (Vec::new(), Vec::new(), Vec::new(), Vec::<u8>::new());
    for tick in 0..200_u64 {
        for (_, properties) in &mut parts {
            properties.color = Color([tick as u8, 1, 2]);
            properties.transparency = tick as f32 * 0.001;
            properties.can_collide = !properties.can_collide;
            properties.size.y = 1.0 + tick as f32 * 0.01;
        }
        output.clear();
        let begin = spent();
        for (at, properties) in &parts {
            publisher.set_part(*at, properties);
        }
        let set = spent();
        publisher.publish(Tick(1_000 + tick), &(), &mut output);
        let published = spent();
        copy.clear();
        copy.extend_from_slice(output.bytes());
        let each =
            |from: std::time::Duration, to: std::time::Duration| (to - from).as_secs_f64() * 1e9 / CHANGING as f64;
        if tick > 10 {
            marked.push(each(begin, set));
            encoded.push(each(set, published));
            copied.push(each(published, spent()));
        }
    }
    let (marked, encoded, copied) = (median(&mut marked), median(&mut encoded), median(&mut copied));
    table.row(
        Figure::new("dirty part published, four fields", encoded, "ns")
            .target(25.0)
            .beside("memcpy of the same bytes", copied),
    );
    table.row(Figure::new("dirty part found by comparing", marked, "ns"));
    joins(table, &place);
}

/// What the publisher tells one who joins.
fn joins(table: &mut Table, place: &tidelock::Place) {
    let untouched = InstancePublisher::new(place.clone(), Generation(1));
    let mut output = PublishOutput::new();
    let nanoseconds = measure(&mut || {
        output.clear();
        untouched.join_snapshot(Tick(9), (PlayerId(1), &[]), &(), &mut output);
        1
    });
    let what = "join snapshot of an unchanged place of 50,000 parts";
    table.row(Figure::new(what, nanoseconds * 1e-3, "µs").target(1_000.0));
    table.row(Figure::new("its bytes", output.bytes().len() as f64, "B").target(2_000.0));
}
