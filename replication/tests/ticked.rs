//! Inputs of ticks and own snapshots on the wire: whole, to the bit, or refused.

use proptest::prelude::*;
use tidelock_replication::wire::{
    MAX_INPUTS, NewestKind, OwnSnapshot, TickedInputs, WireError, read_inputs, read_own_snapshot, write_inputs,
    write_own_snapshot,
};
use tidelock_sim::input::{HeldControls, HeldState, InputPacket, StepInput};
use tidelock_sim::motor::{ControllerBytes, MotorSnapshot};
use tidelock_sim::session::SnapshotHeader;
use tidelock_sim::simulation::CharacterSim;
use tidelock_sim::{Sequence, Tick};

/// The longest message that goes unfragmented.
const LANE_BYTES: usize = 1_024;

prop_compose! {
    fn input()(
        buttons in prop_oneof![Just(0), Just(1), any::<u32>()],
        direction in prop_oneof![Just([0, 0, -127]), any::<[i8; 3]>()],
        yaw in prop_oneof![Just(0), any::<u16>()],
        flags in prop_oneof![Just(0), Just(1), Just(4), Just(5)],
        controller in prop::collection::vec(any::<u8>(), 0..=ControllerBytes::MAX),
    ) -> StepInput<HeldControls> {
        let controller = ControllerBytes::new(&controller).expect("within the limit");
        StepInput { buttons, held: HeldControls { direction, yaw, flags, controller } }
    }
}

/// Inputs as players hold them: mostly the same again.
fn inputs() -> impl Strategy<Value = TickedInputs> {
    let runs = prop::collection::vec((input(), 1_usize..8), 1..6);
    (any::<u32>(), any::<u32>(), runs).prop_map(|(began, last, runs)| {
        let held = runs.into_iter().flat_map(|(input, count)| std::iter::repeat_n(input, count));
        TickedInputs { began, last: Sequence(last), inputs: held.take(MAX_INPUTS).collect() }
    })
}

proptest! {
    // S-5
    #[test]
    fn inputs_come_back_to_the_bit(inputs in inputs(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        write_inputs(&mut bytes, inputs.began, &inputs.packet());
        prop_assert!(bytes.len() <= LANE_BYTES, "{} bytes", bytes.len());
        prop_assert_eq!(NewestKind::of(&bytes), Ok(NewestKind::Inputs));
        let mut read = TickedInputs { inputs: vec![StepInput::default(); 200], ..TickedInputs::default() };
        prop_assert_eq!(read_inputs(&bytes, &mut read), Ok(()));
        prop_assert_eq!(&read, &inputs);
        prop_assert!(read_inputs(&bytes[..cut.index(bytes.len())], &mut read).is_err());
        bytes.push(0);
        prop_assert!(read_inputs(&bytes, &mut read).is_err());
    }

    // B21: no bytes of a client are a number that is none, a direction longer than 1, or too many inputs.
    #[test]
    fn any_bytes_are_sound_inputs_or_refused(
        count in 0_u8..40,
        rest in prop::collection::vec(any::<u8>(), 0..400),
        kind in prop_oneof![9 => Just(2_u8), 1 => any::<u8>()],
    ) {
        let mut bytes = vec![kind, 3, 7, 0, 0, 0, count];
        bytes.extend(rest);
        let mut read = TickedInputs::default();
        if read_inputs(&bytes, &mut read).is_ok() {
            prop_assert!((1..=MAX_INPUTS).contains(&read.inputs.len()));
            for input in &read.inputs {
                let frame = input.sanitised().frame();
                prop_assert!(frame.direction.length() <= 1.0 + 1e-6 && frame.camera_yaw.is_finite());
                prop_assert!(input.held.is_finite());
            }
        }
        let _ = read_own_snapshot(&bytes);
    }

    // S-33
    #[test]
    fn own_snapshots_come_back_to_the_bit(
        tick in 0_u64..1 << 50,
        numbers: [u32; 5],
        position in [-1e6_f32..1e6, -1e6_f32..1e6, -1e6_f32..1e6],
        yaw in -3.0_f32..3.0,
        cut in any::<prop::sample::Index>(),
    ) {
        let [acknowledged, depth, target, guessed, epoch] = numbers;
        let motor = MotorSnapshot { position: position.into(), yaw, ..MotorSnapshot::default() };
        let sim = CharacterSim { motor, ..CharacterSim::default() };
        let header = SnapshotHeader { tick: Tick(tick), acknowledged: Sequence(acknowledged), depth, target: Some(target) };
        let snapshot = OwnSnapshot { header, guessed, epoch, sim };
        let mut bytes = Vec::new();
        write_own_snapshot(&mut bytes, &snapshot);
        prop_assert_eq!(read_own_snapshot(&bytes), Ok(snapshot));
        prop_assert!(read_own_snapshot(&bytes[..cut.index(bytes.len())]).is_err());
    }
}

// S-5: of more inputs than a message holds the newest go.
#[test]
fn a_message_holds_the_newest_inputs() {
    let inputs: Vec<_> = (0..50).map(|buttons| StepInput { buttons, held: HeldControls::default() }).collect();
    let mut bytes = Vec::new();
    write_inputs(&mut bytes, 0, &InputPacket { last: Sequence(50), inputs: &inputs });
    let mut read = TickedInputs::default();
    assert_eq!(read_inputs(&bytes, &mut read), Ok(()));
    assert_eq!(read.inputs, inputs[50 - MAX_INPUTS..]);
}

#[test]
fn counts_and_kinds_are_checked() {
    let mut read = TickedInputs::default();
    assert_eq!(read_inputs(&[2, 0, 1, 0, 0, 0, 0], &mut read), Err(WireError::Value));
    assert_eq!(read_inputs(&[2, 0, 1, 0, 0, 0, MAX_INPUTS as u8 + 1], &mut read), Err(WireError::TooLong));
    for flags in [0x02, 0x40, 0x80, 0x09, 0x0c, 0x18] {
        assert_eq!(read_inputs(&[2, 0, 1, 0, 0, 0, 1, flags], &mut read), Err(WireError::Flags), "{flags:#x}");
    }
    assert_eq!(NewestKind::of(&[]), Err(WireError::Truncated));
    assert_eq!(NewestKind::of(&[0]), Err(WireError::Kind));
}
