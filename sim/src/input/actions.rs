use std::fmt;

use super::{HeldState, StepInput};

/// Why actions cannot be declared so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionError {
    /// A stage above [`PressActions::MAX_STAGE`].
    Stage,
    /// A button declared twice.
    Twice,
}

impl fmt::Display for ActionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stage => "an action's stage must be at most 30",
            Self::Twice => "a button belongs to one action only",
        })
    }
}

impl std::error::Error for ActionError {}

/// Which buttons act on the press, and in what order the presses of one step apply (S-3).
///
/// Every action has a stage from 0 to 30. A step applies presses by stage, then in the order of declaration, then by
/// bit; inputs made by a [`Sequencer`](super::Sequencer) hold at most one press per stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PressActions {
    mask: u32,
    stages: [u8; 32],
    /// Buttons in the order in which presses apply; the first `count` of them.
    order: [u8; 32],
    count: u8,
}

impl Default for PressActions {
    /// No button acts on the press.
    fn default() -> Self {
        Self { mask: 0, stages: [0; 32], order: [0; 32], count: 0 }
    }
}

impl PressActions {
    /// The highest stage.
    pub const MAX_STAGE: u8 = 30;

    /// Declares actions as (mask of buttons, stage), in order.
    ///
    /// # Errors
    ///
    /// When a stage is too high or a button is declared twice.
    pub fn new(actions: &[(u32, u8)]) -> Result<Self, ActionError> {
        let mut declared = Self::default();
        for &(mask, stage) in actions {
            if stage > Self::MAX_STAGE {
                return Err(ActionError::Stage);
            }
            if declared.mask & mask != 0 {
                return Err(ActionError::Twice);
            }
            declared.mask |= mask;
            for button in (0..32_u8).filter(|button| mask & (1 << button) != 0) {
                declared.stages[usize::from(button)] = stage;
                declared.order[usize::from(declared.count)] = button;
                declared.count += 1;
            }
        }
        // Stable: within a stage the order of declaration stays.
        let stages = declared.stages;
        declared.order[..usize::from(declared.count)].sort_by_key(|button| stages[usize::from(*button)]);
        Ok(declared)
    }

    /// All buttons that act on the press.
    #[must_use]
    pub fn mask(&self) -> u32 {
        self.mask
    }

    /// The stage of a button, `None` when it does not act on the press.
    #[must_use]
    pub fn stage(&self, button: u8) -> Option<u8> {
        (button < 32 && self.mask & (1 << button) != 0).then(|| self.stages[usize::from(button)])
    }

    /// The buttons pressed from one step to the next, in the order in which they apply.
    pub fn presses(&self, before: u32, after: u32) -> impl Iterator<Item = u8> + '_ {
        let risen = after & !before;
        let order = self.order[..usize::from(self.count)].iter().copied();
        order.filter(move |button| risen & (1 << button) != 0)
    }

    /// Whether `first` and `second`, which follow on `before`, can become `second` alone without losing or reordering a
    /// press.
    #[must_use]
    pub fn can_merge<H: HeldState>(&self, before: &StepInput<H>, first: &StepInput<H>, second: &StepInput<H>) -> bool {
        if first == before {
            return true;
        }
        let pressed_again = before.buttons & !first.buttons & second.buttons & self.mask;
        if pressed_again != 0 {
            return false;
        }
        if first.buttons & !before.buttons & self.mask == 0 {
            return true;
        }
        let new = second.buttons & !first.buttons & self.mask;
        second.buttons == first.buttons | new && first.held == second.held && self.in_stages(before, first, second)
    }

    /// Whether all presses across two inputs have stages of their own, and those of the first come first.
    fn in_stages<H>(&self, before: &StepInput<H>, first: &StepInput<H>, second: &StepInput<H>) -> bool {
        let of_first = self.presses(before.buttons, first.buttons);
        let of_second = self.presses(first.buttons, second.buttons);
        let mut last = None;
        for stage in of_first.chain(of_second).map(|button| self.stages[usize::from(button)]) {
            if last.is_some_and(|last| stage <= last) {
                return false;
            }
            last = Some(stage);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DECLARED: [(u32, u8); 3] = [(0b1, 4), (0b110, 2), (0b1000, 2)];

    fn input(buttons: u32, held: i32) -> StepInput<i32> {
        StepInput { buttons, held }
    }

    // S-3
    #[test]
    fn presses_apply_by_stage_then_declaration() {
        let actions = PressActions::new(&DECLARED).unwrap();
        assert_eq!(actions.presses(0, 0b11111).collect::<Vec<_>>(), [1, 2, 3, 0]);
        assert_eq!(actions.presses(0b10, 0b11011).collect::<Vec<_>>(), [3, 0]);
        assert_eq!((actions.stage(0), actions.stage(4), actions.stage(40)), (Some(4), None, None));
        assert_eq!(PressActions::new(&[(1, 31)]), Err(ActionError::Stage));
        assert_eq!(PressActions::new(&[(1, 0), (3, 1)]), Err(ActionError::Twice));
    }

    proptest! {
        // S-3: whatever merges, the presses of the two are those of the one, in the same order.
        #[test]
        fn merging_neither_loses_nor_reorders_presses(buttons in [0_u32..32, 0..32, 0..32], held in [0..2_i32, 0..2, 0..2]) {
            let actions = PressActions::new(&DECLARED).unwrap();
            let [before, first, second] = [0, 1, 2].map(|index| input(buttons[index], held[index]));
            if actions.can_merge(&before, &first, &second) {
                let apart: Vec<_> = actions
                    .presses(before.buttons, first.buttons)
                    .chain(actions.presses(first.buttons, second.buttons))
                    .collect();
                let merged: Vec<_> = actions.presses(before.buttons, second.buttons).collect();
                prop_assert_eq!(apart, merged);
            }
        }
    }

    // S-3
    #[test]
    fn inputs_merge_only_when_nothing_is_lost() {
        let actions = PressActions::new(&DECLARED).unwrap();
        let merges = |a, b, c| actions.can_merge(&a, &b, &c);
        assert!(merges(input(1, 0), input(1, 0), input(9, 5)), "the first is what was applied before");
        assert!(!merges(input(1, 0), input(0, 0), input(1, 0)), "released and pressed again");
        assert!(merges(input(1, 0), input(16, 3), input(0, 1)), "the first holds no press");
        assert!(merges(input(0, 0), input(2, 1), input(3, 1)), "stage 2, then stage 4");
        assert!(!merges(input(0, 0), input(1, 1), input(3, 1)), "stage 4, then stage 2");
        assert!(!merges(input(0, 0), input(2, 1), input(3, 2)), "the held state differs");
        assert!(!merges(input(0, 0), input(2, 1), input(1, 1)), "a button was released");
        assert!(!merges(input(0, 0), input(2, 1), input(10, 1)), "both in one stage");
    }
}
