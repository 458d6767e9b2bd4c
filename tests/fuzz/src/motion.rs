use tidelock_replication::ids::Slot;
use tidelock_replication::motion::{MotionBatch, MotionGate, MotionItem};

/// Slots of subjects; ids share them.
const SLOTS: u64 = 64;

/// Motion batches: read whole or refused, every number finite, none of them later than the batch.
pub fn run(bytes: &[u8]) {
    let Ok(batch) = MotionBatch::parse(bytes) else { return };
    let tick = batch.envelope.tick;
    let mut written = Vec::new();
    batch.envelope.write(&mut written);
    assert_eq!(written, bytes[..written.len()]);
    let mut gate = MotionGate::new();
    let mut items = 0;
    for item in batch.items() {
        items += 1;
        assert_ne!(item.id().0, 0);
        assert!(item.order(tick) <= tick);
        match item {
            MotionItem::Part { motion, tick: at, .. } => {
                assert!(at <= tick);
                assert!(motion.position.is_finite() && motion.rotation.is_finite());
                assert!((motion.rotation.length() - 1.0).abs() < 1e-3);
                assert!(motion.linear_velocity.is_finite() && motion.angular_velocity.is_finite());
            }
            MotionItem::Character { motion, .. } => {
                assert!(motion.sample <= tick.time());
                assert!(motion.position.is_finite() && motion.velocity.is_finite() && motion.yaw.is_finite());
            }
        }
        let slot = Slot((item.id().0 % SLOTS) as u32);
        if gate.admit(slot, item.order(tick)) {
            assert!(!gate.admit(slot, item.order(tick)), "once");
        }
    }
    assert!(items <= bytes.len());
}
