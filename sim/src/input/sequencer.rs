use super::{HeldState, PressActions, StepInput};

/// One change on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeviceChange<H> {
    /// A button went down; 0 to 31, others are ignored.
    Press(u8),
    /// A button went up; 0 to 31, others are ignored.
    Release(u8),
    /// All buttons of the device went up: it was unplugged, or the window lost its focus.
    ReleaseAll,
    /// The held state became this one.
    Held(H),
}

/// A change with its time and device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceEvent<H> {
    /// When it happened, milliseconds on the clock of [`Sequencer::next`]. Nonfinite counts as the newest time seen.
    pub at_ms: f64,
    /// Which device, 0 to 7; higher ones count as 7. A button is down while any device holds it down.
    pub device: u8,
    /// What changed.
    pub change: DeviceChange<H>,
}

/// What a [`Sequencer`] decided silently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequencerCounters {
    /// Changes so old that they only set what is held.
    pub stale: u64,
    /// Times the backlog was full and only what is held was kept.
    pub resyncs: u64,
    /// Steps after which due changes had to wait for the next one.
    pub held_back: u64,
}

/// Turns timestamped device changes into one input per step, without losing a press (S-4).
///
/// A tap shorter than a step shows for exactly one step. After a press nothing else changes in that step but presses of
/// higher stages; everything later waits, in order. Nothing allocates after construction.
#[derive(Clone, Debug)]
pub struct Sequencer<H> {
    actions: PressActions,
    /// By time, at most [`Sequencer::BACKLOG`].
    pending: Vec<DeviceEvent<H>>,
    devices: [u32; DEVICES],
    held: H,
    shown: StepInput<H>,
    latest_ms: f64,
    counters: SequencerCounters,
}

const DEVICES: usize = 8;

/// What has changed within the step being made.
#[derive(Clone, Copy, Debug, Default)]
struct StepChanges {
    risen: u32,
    fallen: u32,
    last_stage: Option<u8>,
}

impl<H: HeldState> Sequencer<H> {
    /// The most changes that wait; one more resyncs.
    pub const BACKLOG: usize = 256;
    /// Age above which a change only sets what is held, milliseconds.
    pub const STALE_MS: f64 = 2000.0;

    /// A sequencer whose devices hold nothing.
    #[must_use]
    pub fn new(actions: PressActions) -> Self {
        Self {
            actions,
            pending: Vec::with_capacity(Self::BACKLOG),
            devices: [0; DEVICES],
            held: H::default(),
            shown: StepInput::default(),
            latest_ms: 0.0,
            counters: SequencerCounters::default(),
        }
    }

    /// Takes in a change. Changes of several devices may come in any order; they are merged by time, equal times in the
    /// order of their coming.
    pub fn push(&mut self, mut event: DeviceEvent<H>) {
        if event.at_ms.is_finite() {
            self.latest_ms = self.latest_ms.max(event.at_ms);
        } else {
            event.at_ms = self.latest_ms;
        }
        if self.pending.len() == Self::BACKLOG {
            self.counters.resyncs += 1;
            self.fold(Self::BACKLOG);
        }
        let place = self.pending.partition_point(|other| other.at_ms <= event.at_ms);
        self.pending.insert(place, event);
    }

    /// The input of the next step. `now_ms` is the present, `until_ms` the end of the step's slice of time, `None` for
    /// everything so far: what [`FixedStepClock::step_cutoff_ms`](crate::clock::FixedStepClock::step_cutoff_ms) returns.
    pub fn next(&mut self, now_ms: f64, until_ms: Option<f64>) -> StepInput<H> {
        if now_ms.is_finite() {
            self.latest_ms = self.latest_ms.max(now_ms);
            let stale = self.pending.partition_point(|event| event.at_ms < now_ms - Self::STALE_MS);
            self.counters.stale += stale as u64;
            self.fold(stale);
        }
        let mut step = StepChanges::default();
        let due = self.pending.partition_point(|event| until_ms.is_none_or(|until| event.at_ms <= until));
        let mut applied = 0;
        if self.catch_up(&mut step) {
            while applied < due && self.apply(self.pending[applied], &mut step) {
                applied += 1;
            }
        }
        self.counters.held_back += u64::from(applied < due);
        self.pending.drain(..applied);
        self.shown
    }

    /// The input of the last step.
    #[must_use]
    pub fn shown(&self) -> StepInput<H> {
        self.shown
    }

    /// Changes waiting for their step.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.pending.len()
    }

    /// What was decided silently so far.
    #[must_use]
    pub fn counters(&self) -> SequencerCounters {
        self.counters
    }

    fn level(&self) -> u32 {
        self.devices.iter().fold(0, |level, buttons| level | buttons)
    }

    /// The buttons of the event's device after it.
    fn device_after(&self, event: &DeviceEvent<H>) -> (usize, u32) {
        let device = usize::from(event.device).min(DEVICES - 1);
        let bit = |button: u8| 1_u32.checked_shl(u32::from(button)).unwrap_or(0);
        let after = match event.change {
            DeviceChange::Press(button) => self.devices[device] | bit(button),
            DeviceChange::Release(button) => self.devices[device] & !bit(button),
            DeviceChange::ReleaseAll => 0,
            DeviceChange::Held(_) => self.devices[device],
        };
        (device, after)
    }

    /// Lets the oldest `count` changes set what is held, without showing how it came to be.
    fn fold(&mut self, count: usize) {
        for index in 0..count {
            let event = self.pending[index];
            let (device, buttons) = self.device_after(&event);
            self.devices[device] = buttons;
            if let DeviceChange::Held(held) = event.change {
                self.held = held;
            }
        }
        self.pending.drain(..count);
    }

    /// Shows what folding left to be shown, and whether that is all of it.
    fn catch_up(&mut self, step: &mut StepChanges) -> bool {
        let level = self.level();
        step.fallen = self.shown.buttons & !level;
        self.shown.buttons &= level;
        self.shown.held = self.held;
        let plain = level & !self.shown.buttons & !self.actions.mask();
        step.risen |= plain;
        self.shown.buttons |= plain;
        for button in self.actions.presses(self.shown.buttons, level) {
            let stage = self.actions.stage(button);
            if stage > step.last_stage {
                step.last_stage = stage;
                step.risen |= 1 << button;
            }
        }
        self.shown.buttons |= step.risen;
        self.shown.buttons == level
    }

    /// Applies one change to the step, unless it has to wait for the next.
    fn apply(&mut self, event: DeviceEvent<H>, step: &mut StepChanges) -> bool {
        let pressed = step.last_stage.is_some();
        if let DeviceChange::Held(held) = event.change {
            if pressed && held != self.held {
                return false;
            }
            (self.held, self.shown.held) = (held, held);
            return true;
        }
        let (device, buttons) = self.device_after(&event);
        let before = self.devices[device];
        self.devices[device] = buttons;
        let level = self.level();
        let (rises, falls) = (level & !self.shown.buttons, self.shown.buttons & !level);
        // Only a press has a stage, and it is of one button.
        let stage = (rises != 0).then(|| self.actions.stage(rises.trailing_zeros() as u8)).flatten();
        let waits = if stage.is_some() {
            stage <= step.last_stage || rises & step.fallen != 0
        } else {
            (rises | falls != 0 && pressed) || rises & step.fallen != 0 || falls & step.risen != 0
        };
        if waits {
            self.devices[device] = before;
            return false;
        }
        step.last_stage = stage.or(step.last_stage);
        step.risen |= rises;
        step.fallen |= falls;
        self.shown.buttons = level;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Button 0 in stage 3, buttons 1 and 2 in stage 1; the others do not act on the press.
    fn actions() -> PressActions {
        PressActions::new(&[(0b1, 3), (0b110, 1)]).unwrap()
    }

    fn event(at_ms: f64, change: DeviceChange<i32>) -> DeviceEvent<i32> {
        DeviceEvent { at_ms, device: 0, change }
    }

    fn buttons(sequencer: &mut Sequencer<i32>, steps: usize) -> Vec<u32> {
        (0..steps).map(|_| sequencer.next(100.0, None).buttons).collect()
    }

    // S-4
    #[test]
    fn a_tap_shows_for_one_step_and_a_second_waits() {
        let mut sequencer = Sequencer::new(actions());
        for at in [1.0, 3.0] {
            sequencer.push(event(at, DeviceChange::Press(1)));
            sequencer.push(event(at + 1.0, DeviceChange::Release(1)));
        }
        sequencer.push(event(5.0, DeviceChange::Press(9)));
        sequencer.push(event(5.0, DeviceChange::Release(9)));
        // A release and the press after it cannot share a step: the edge would not show.
        assert_eq!(buttons(&mut sequencer, 6), [2, 0, 2, 1 << 9, 0, 0]);
    }

    // S-4
    #[test]
    fn after_a_press_only_presses_of_higher_stages_come() {
        let mut sequencer = Sequencer::new(actions());
        sequencer.push(event(1.0, DeviceChange::Held(5)));
        sequencer.push(event(2.0, DeviceChange::Press(1)));
        sequencer.push(event(3.0, DeviceChange::Press(0)));
        sequencer.push(event(4.0, DeviceChange::Press(2)));
        sequencer.push(event(5.0, DeviceChange::Held(6)));
        let steps: Vec<_> = (0..3).map(|_| sequencer.next(9.0, None)).map(|step| (step.buttons, step.held)).collect();
        assert_eq!(steps, [(0b11, 5), (0b111, 5), (0b111, 6)]);
        assert_eq!(sequencer.counters().held_back, 2);
    }

    // S-2, S-4
    #[test]
    fn cutoffs_part_steps_and_devices_merge_in_time_order() {
        let mut sequencer = Sequencer::new(actions());
        sequencer.push(event(30.0, DeviceChange::Held(3)));
        sequencer.push(DeviceEvent { at_ms: 10.0, device: 1, change: DeviceChange::Press(5) });
        sequencer.push(event(20.0, DeviceChange::Press(5)));
        sequencer.push(DeviceEvent { at_ms: 25.0, device: 1, change: DeviceChange::ReleaseAll });
        let first = sequencer.next(35.0, Some(9.0));
        assert_eq!((first.buttons, first.held), (0, 0));
        let second = sequencer.next(35.0, Some(26.0));
        assert_eq!((second.buttons, second.held), (32, 0), "the other device holds the button still");
        assert_eq!(sequencer.next(35.0, None).held, 3);
    }

    // S-4
    #[test]
    fn old_changes_and_a_full_backlog_only_set_what_is_held() {
        let mut sequencer = Sequencer::new(actions());
        for change in [DeviceChange::Press(0), DeviceChange::Release(0), DeviceChange::Held(4)] {
            sequencer.push(event(1.0, change));
        }
        for button in [1, 2, 8] {
            sequencer.push(event(1.0, DeviceChange::Press(button)));
        }
        let steps: Vec<_> =
            (0..3).map(|_| sequencer.next(2002.0, None)).map(|step| (step.buttons, step.held)).collect();
        assert_eq!(steps, [(0b1_0000_0010, 4), (0b1_0000_0110, 4), (0b1_0000_0110, 4)]);
        assert_eq!(sequencer.counters().stale, 6);
        for index in 0..=Sequencer::<i32>::BACKLOG {
            sequencer
                .push(event(3000.0, if index % 2 == 0 { DeviceChange::Release(8) } else { DeviceChange::Press(8) }));
        }
        assert_eq!((sequencer.counters().resyncs, sequencer.backlog()), (1, 1));
        assert_eq!(sequencer.next(3000.0, None).buttons, 0b110);
    }

    proptest! {
        // S-4, B16: every press of every button shows, in order, at most one per stage and step.
        #[test]
        fn no_press_is_lost_or_reordered(
            changes in prop::collection::vec((0_u8..6, any::<bool>(), 0.0..400.0_f64), 0..200),
        ) {
            let mut changes = changes;
            changes.sort_by(|a, b| a.2.total_cmp(&b.2));
            let actions = actions();
            let mut sequencer = Sequencer::new(actions);
            let (mut level, mut wanted, mut got) = (0_u32, Vec::new(), Vec::new());
            for (button, down, at) in &changes {
                let change = if *down { DeviceChange::Press(*button) } else { DeviceChange::Release(*button) };
                sequencer.push(event(*at, change));
                if *down && level & (1 << button) == 0 && *button < 3 {
                    wanted.push(*button);
                }
                level = if *down { level | 1 << button } else { level & !(1 << button) };
            }
            let mut before = 0;
            for step in 0..400 {
                let after = sequencer.next(400.0, Some(f64::from(step) * 16.0)).buttons;
                let presses: Vec<_> = actions.presses(before, after).collect();
                prop_assert!(presses.windows(2).all(|pair| actions.stage(pair[0]) < actions.stage(pair[1])));
                got.extend(presses);
                before = after;
            }
            prop_assert_eq!(sequencer.backlog(), 0);
            prop_assert_eq!(before, level);
            prop_assert_eq!(got, wanted);
        }
    }
}
