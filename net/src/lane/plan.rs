//! What follows from a set of lanes, reckoned once for all connections that use it.

use crate::lane::{LaneConfig, LaneKind};

/// The order in which lanes are packed, and which of them have what in common, as bits by their ids.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Lanes in order of priority, with the index of their class of equal priority.
    pub(crate) order: Box<[(u8, u8)]>,
    pub(crate) classes: usize,
    /// Reliable lanes of the last of several classes: they take what the others leave.
    pub(crate) background: u16,
    /// Lanes without urgency: unreliable ones and those that repeat anyway.
    pub(crate) lazy: u16,
    /// Lanes whose messages are sent until they arrive, and those that repeat.
    pub(crate) reliable: u16,
    pub(crate) repeating: u16,
    /// Lanes whose messages have ids on the wire.
    pub(crate) with_ids: u16,
}

impl Plan {
    pub(super) fn new(lanes: &[LaneConfig]) -> Self {
        let priority = |lane: u8| lanes[usize::from(lane)].priority;
        let mut order: Vec<u8> = (0..lanes.len() as u8).collect();
        order.sort_by_key(|&lane| priority(lane));
        let classes = order.chunk_by(|a, b| priority(*a) == priority(*b));
        let order: Box<[_]> =
            classes.clone().zip(0..).flat_map(|(lanes, class)| lanes.iter().map(move |lane| (*lane, class))).collect();
        let classes = classes.count();
        let those = |are: &dyn Fn(&LaneConfig) -> bool| {
            let them = lanes.iter().enumerate().filter(|(_, lane)| are(lane));
            them.fold(0, |bits, (index, _)| bits | 1 << index)
        };
        let last = lanes.iter().map(|lane| lane.priority).max();
        Self {
            background: those(&|lane| classes > 1 && Some(lane.priority) == last && lane.kind.is_reliable()),
            lazy: those(&|lane| !lane.kind.is_reliable() || lane.repeat.is_some()),
            reliable: those(&|lane| lane.kind.is_reliable()),
            repeating: those(&|lane| lane.repeat.is_some()),
            with_ids: those(&|lane| lane.kind != LaneKind::Unreliable),
            order,
            classes,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lane::LaneSet;

    // N-3
    #[test]
    fn the_standard_set_is_packed_by_priority() {
        let set = LaneSet::standard();
        let plan = set.plan();
        assert_eq!(*plan.order, [(1, 0), (5, 0), (0, 1), (3, 1), (2, 2), (4, 3)]);
        assert_eq!(plan.classes, 4);
        assert_eq!([plan.background, plan.repeating], [1 << 4, 1 << 1]);
        assert_eq!([plan.reliable, plan.lazy, plan.with_ids], [0b01_1011, 0b10_0110, 0b11_1011]);
    }

    #[test]
    fn one_class_has_no_background() {
        let lane = LaneSet::standard().lanes()[0].clone();
        let set = LaneSet::new(vec![lane.clone(), lane]).unwrap();
        assert_eq!((set.plan().classes, set.plan().background), (1, 0));
    }
}
