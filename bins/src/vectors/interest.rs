use glam::Vec3;
use serde_json::{Value, json};
use tidelock::replication::ids::{PlayerId, Slot};
use tidelock::replication::instance::Audience;
use tidelock::replication::interest::{
    InterestGrid, InterestSettings, Origin, Subject, Viewer, VisibleSet, first_sight,
};

use super::check::{Check, Outcome};
use super::draws::Draws;
use super::node::Node;

const CELL_STUDS: f32 = 64.0;

pub(super) fn check(case: Node<'_>, check: &mut Check) -> Outcome {
    let parts = case.get("parts")?.items()?;
    let visible = seen(case.get("player")?, &parts)?;
    for (index, ([grid, rule], want)) in visible.into_iter().zip(case.get("expect")?.items()?).enumerate() {
        check.enter_step(format_args!("part {index}"));
        check.same("visible in the grid", grid, want.boolean()?)?;
        check.same("visible by the rule", rule, want.boolean()?)?;
    }
    Ok(())
}

pub(super) fn write(draws: &mut Draws) -> Result<Vec<Value>, String> {
    (0..100).map(|_| write_case(draws)).collect()
}

fn write_case(draws: &mut Draws) -> Result<Value, String> {
    let groups: Vec<u64> = [7, 8].into_iter().filter(|_| draws.strikes(0.5)).collect();
    let radii = [json!("inf"), json!(32.0), json!(64.0), json!(200.0), Value::Null];
    let origins: Vec<Value> =
        (0..draws.whole(0, 4)).map(|_| json!({ "pos": draws.vector(100.0), "radius": draws.pick(&radii) })).collect();
    let player = json!({ "id": draws.whole(1, 3), "groups": groups, "origins": origins });
    let parts: Vec<Value> = (0..draws.whole(1, 12))
        .map(|_| {
            let audience = match draws.whole(0, 4) {
                0 => json!({ "kind": "owner", "player": draws.whole(1, 3) }),
                1 => json!({ "kind": "group", "group": draws.whole(6, 9) }),
                _ => json!({ "kind": "shared" }),
            };
            let character = draws.pick(&[None, None, None, Some(1), Some(2)]);
            let pos = draws.vector(320.0);
            json!({ "pos": pos, "audience": audience, "always": draws.strikes(0.1), "character_of": character })
        })
        .collect();
    let nodes: Vec<Node<'_>> = parts.iter().map(Node::new).collect();
    let expect: Vec<bool> = seen(Node::new(&player), &nodes)?.into_iter().map(|[grid, _]| grid).collect();
    Ok(json!({ "player": player, "parts": parts, "expect": expect }))
}

/// Of each part, whether the player sees it in a grid of all, and by the rule alone.
fn seen(player: Node<'_>, parts: &[Node<'_>]) -> Result<Vec<[bool; 2]>, String> {
    let id = player.get("id")?.integer()?;
    let groups = player.get("groups")?.items()?.into_iter().map(group).collect::<Result<Vec<_>, _>>()?;
    let origins = player.get("origins")?.items()?.into_iter().map(origin).collect::<Result<Vec<_>, _>>()?;
    let mut grid = InterestGrid::new(CELL_STUDS, Vec3::Y, InterestSettings::default());
    for (index, part) in parts.iter().enumerate() {
        let slot = slot(index);
        grid.insert(slot, part.get("pos")?.vector()?, audience(part.get("audience")?)?);
        grid.set_always_relevant(slot, part.get("always")?.boolean()?);
    }
    let see = |(index, part): (usize, &Node<'_>)| {
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
        Ok([visible.contains(slot(index)), first_sight(grid.settings(), &viewer, &subject)])
    };
    parts.iter().enumerate().map(see).collect()
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
