use glam::Vec3;
use tidelock::replication::ids::{PlayerId, Slot};
use tidelock::replication::instance::Audience;
use tidelock::replication::interest::{
    InterestGrid, InterestSettings, Origin, Subject, Viewer, VisibleSet, first_sight,
};

use super::check::{Check, Outcome};
use super::node::Node;

const CELL_STUDS: f32 = 64.0;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let player = case.get("player")?;
    let id = player.get("id")?.integer()?;
    let groups = player.get("groups")?.items()?.into_iter().map(group).collect::<Result<Vec<_>, _>>()?;
    let origins = player.get("origins")?.items()?.into_iter().map(origin).collect::<Result<Vec<_>, _>>()?;
    let parts = case.get("parts")?.items()?;
    let mut grid = InterestGrid::new(CELL_STUDS, Vec3::Y, InterestSettings::default());
    for (index, part) in parts.iter().enumerate() {
        let slot = slot(index);
        grid.insert(slot, part.get("pos")?.vector()?, audience(part.get("audience")?)?);
        grid.set_always_relevant(slot, part.get("always")?.boolean()?);
    }
    for ((index, part), want) in parts.iter().enumerate().zip(case.get("expect")?.items()?) {
        check.enter_step(format_args!("part {index}"));
        let subject = Subject {
            position: part.get("pos")?.vector()?,
            audience: audience(part.get("audience")?)?,
            always_relevant: part.get("always")?.boolean()?,
            character_of: part.find("character_of").map(Node::integer).transpose()?.map(PlayerId),
        };
        let character = (subject.character_of == Some(PlayerId(id))).then(|| slot(index));
        let viewer = Viewer { player: PlayerId(id), groups: &groups, origins: &origins, character };
        let mut visible = VisibleSet::new();
        grid.update(&viewer, &mut visible);
        check.same("visible in the grid", visible.contains(slot(index)), want.boolean()?)?;
        check.same("visible by the rule", first_sight(grid.settings(), &viewer, &subject), want.boolean()?)?;
    }
    Ok(())
}

fn group(node: Node<'_>) -> Result<u32, String> {
    u32::try_from(node.integer()?).map_err(|why| why.to_string())
}

fn origin(node: Node<'_>) -> Result<Origin, String> {
    let radius = node.find("radius").map(Node::number).transpose()?;
    Ok(Origin { position: node.get("pos")?.vector()?, radius: radius.map(|radius| radius as f32) })
}

fn audience(node: Node<'_>) -> Result<Audience, String> {
    Ok(match node.get("kind")?.text()? {
        "shared" => Audience::Shared,
        "owner" => Audience::Owner(PlayerId(node.get("player")?.integer()?)),
        "group" => Audience::Group(group(node.get("group")?)?),
        other => return Err(format!("audience is `{other}`")),
    })
}

fn slot(index: usize) -> Slot {
    Slot(index as u32)
}
