use super::commands::Commands;

/// Where in a tick a game's system runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemPoint {
    /// After joins and leaves, before reported input runs.
    BeforeReplay,
    /// When every character has moved.
    AfterReplay,
    /// When loose parts have moved.
    AfterPhysics,
    /// Last, before changes become bytes.
    BeforePublish,
}

impl SystemPoint {
    const COUNT: usize = 4;
}

/// A game's system: reads the world, asks for changes by commands. Commands apply before the next stage begins.
pub type System = Box<dyn FnMut(&hecs::World, &mut Commands) + Send>;

/// The systems a game added, in the order it added them.
#[derive(Default)]
pub(crate) struct Systems([Vec<System>; SystemPoint::COUNT]);

impl Systems {
    pub(crate) fn add(&mut self, point: SystemPoint, system: System) {
        self.0[point as usize].push(system);
    }

    pub(crate) fn run(&mut self, point: SystemPoint, world: &hecs::World, commands: &mut Commands) {
        for system in &mut self.0[point as usize] {
            system(world, commands);
        }
    }
}
