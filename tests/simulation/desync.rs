use std::sync::atomic::{AtomicBool, Ordering};

use tidelock::sim::module::{CustomState, ModuleState, ModuleStep, SimulationModule};
use tidelock::sim::motor::{InputFrame, MotorSettings};
use tidelock::sim::report::{CorrectionCause, Difference};
use tidelock::sim::stock::StockModule;

use super::*;

/// The stock module, but some bits of one step come out differently when it is told to.
struct Faulty {
    stock: StockModule,
    bits: u32,
    fault: Arc<AtomicBool>,
}

impl SimulationModule for Faulty {
    fn name(&self) -> &'static str {
        self.stock.name()
    }

    fn version(&self) -> u32 {
        self.stock.version()
    }

    fn initial(&self) -> CustomState {
        self.stock.initial()
    }

    fn prepare(&self, state: &ModuleState, frame: &InputFrame, settings: &mut MotorSettings) {
        self.stock.prepare(state, frame, settings);
    }

    fn step(&self, step: &ModuleStep<'_>) -> ModuleState {
        let mut state = self.stock.step(step);
        if self.fault.swap(false, Ordering::Relaxed) {
            state.position.x = f32::from_bits(state.position.x.to_bits() ^ self.bits);
        }
        state
    }
}

// B26: 10 minutes of random input at 150 ms never ring; one flipped bit of one client does within 60 ticks, by name.
#[test]
fn the_desync_alarm_rings_for_a_flipped_bit_and_nothing_else() {
    let fault = Arc::new(AtomicBool::new(false));
    let module = Faulty { stock: StockModule::default(), bits: 1, fault: fault.clone() };
    let mut game = game(demo(), link(150, 0, 0.0), 26);
    game.add_client(ClientOptions::default());
    game.add_client_of(ClientOptions::default(), Protocol::builder().module(module).build());
    let mut bots = Wanderers((0..2).map(|bot| Wanderer::new(26 + bot)).collect());
    run(&mut game, &mut bots, 600.0);
    let reports = game.server().metrics().reports;
    assert!(reports.adopted > 2 * 600 * 19, "{reports:?}");
    assert_eq!((reports.desyncs, game.server().metrics().last_desync), (0, None));
    fault.store(true, Ordering::Relaxed);
    run(&mut game, &mut bots, 1.0);
    let metrics = game.server().metrics();
    let (player, desync) = metrics.last_desync.expect("it rang");
    assert_eq!(metrics.reports.desyncs, 1);
    assert_eq!(Some(player), game.client(ClientKey::nth(1)).player());
    assert_eq!((desync.field.component(), desync.field.name()), ("motor", "position.x"));
}

// T-11, S-24: a correction keeps its why: the field, what the server has and what the client said.
#[test]
fn a_correction_keeps_its_why() {
    let fault = Arc::new(AtomicBool::new(false));
    let module = Faulty { stock: StockModule::default(), bits: 0x0100_0000, fault: fault.clone() };
    let mut game = game(demo(), link(100, 0, 0.0), 27);
    let key = game.add_client_of(ClientOptions::default(), Protocol::builder().module(module).build());
    let mut bots = Wanderers(vec![Wanderer::new(27)]);
    run(&mut game, &mut bots, 5.0);
    assert_eq!(game.server().metrics().last_correction, None);
    fault.store(true, Ordering::Relaxed);
    run(&mut game, &mut bots, 1.0);
    let (player, cause, difference) = game.server().metrics().last_correction.expect("it was corrected");
    assert_eq!((Some(player), cause), (game.client(key).player(), CorrectionCause::Disagreement));
    let Difference::Position { server, client } = difference else { panic!("{difference:?}") };
    assert!(server.distance(client) > 0.75, "{server} and {client}");
    assert!(game.client(key).stats().mispredictions() > 0);
}
