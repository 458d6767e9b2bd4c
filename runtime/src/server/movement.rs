use super::{Server, allowances, inputs, replay};

/// Moves every character by what its owner sent, each by its controller (S-7): a stage finds only the characters that carry its
/// components, and leaves where they are in their [`super::CharacterBody`].
pub(super) fn run(server: &mut Server) {
    replay::run(server);
    allowances::run(server);
    inputs::run(server);
}
