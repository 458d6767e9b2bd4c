use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tidelock::Place;

use crate::args::PlaceAction;
use crate::failure::Failure;

const DEMO: &str = include_str!("../places/demo.toml");

/// Carries out a `place` command.
pub(crate) fn run(action: &PlaceAction) -> Result<(), Failure> {
    match action {
        PlaceAction::Check { file } => {
            let place = load(Some(file))?;
            println!("{}: right; {}", file.display(), summary(&place));
            Ok(())
        }
        PlaceAction::Build { file, out } => {
            let place = load(Some(file))?;
            fs::write(out, place.bytes()).map_err(|why| Failure::Write { path: out.clone(), why })?;
            println!("{}: {}, {} bytes, {}", out.display(), summary(&place), place.bytes().len(), place.hash());
            Ok(())
        }
        PlaceAction::Inspect { file } => {
            inspect(&load(file.as_deref())?);
            Ok(())
        }
    }
}

/// The place in `file`, authored or built, or the built-in demo place without one.
pub(crate) fn load(file: Option<&Path>) -> Result<Place, Failure> {
    let Some(path) = file else { return compile("the built-in demo place", DEMO) };
    let bytes = fs::read(path).map_err(|why| Failure::read(path, why))?;
    let name = path.display().to_string();
    let authored = path.extension().is_some_and(|extension| extension == "toml");
    match String::from_utf8(bytes) {
        Ok(text) => compile(&name, &text),
        Err(_) if authored => Err(Failure::Place { place: name, why: "is not UTF-8 text".into() }),
        Err(not_text) => {
            let opened = Place::from_bytes(not_text.into_bytes());
            opened.map_err(|why| Failure::Place { place: name, why: why.to_string() })
        }
    }
}

fn compile(name: &str, text: &str) -> Result<Place, Failure> {
    Place::compile(text).map_err(|why| Failure::Place { place: name.to_owned(), why: why.to_string() })
}

fn summary(place: &Place) -> String {
    format!("`{}`, {} parts, {} spawns", place.name(), place.parts().len(), place.spawns().count())
}

fn inspect(place: &Place) {
    let mut shapes = BTreeMap::new();
    let (mut moving, mut loose) = (0, 0);
    let (mut low, mut high) = (glam::Vec3::INFINITY, glam::Vec3::NEG_INFINITY);
    for part in place.parts() {
        let shape = format!("{:?}", part.properties.shape);
        let shape = shape.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
        *shapes.entry(shape).or_insert(0) += 1;
        moving += u32::from(part.properties.mover.is_some());
        loose += u32::from(!part.properties.anchored);
        let reach = part.properties.size.length() / 2.0;
        low = low.min(part.pose.position - reach);
        high = high.max(part.pose.position + reach);
    }
    let settings = place.motor_settings();
    println!("name      {}", place.name());
    println!("hash      {}", place.hash());
    println!("bytes     {} in all, {} for clients", place.bytes().len(), place.client_bytes().len());
    println!(
        "parts     {}, of which {moving} scripted and {loose} loose; {} hidden",
        place.parts().len(),
        place.hidden_parts().count()
    );
    for (shape, count) in shapes {
        println!("          {count:>6} {shape}");
    }
    println!("spawns    {}", place.spawns().count());
    println!("extent    {low:.0} to {high:.0} studs");
    println!(
        "movement  walks {} studs/s, jumps at {} studs/s, gravity {} studs/s²",
        settings.walk_speed, settings.jump_speed, settings.gravity
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    // T-40
    #[test]
    fn the_demo_place_is_worth_walking_in() {
        let place = load(None).unwrap();
        assert!(place.parts().len() >= 200, "{}", place.parts().len());
        assert!(place.spawns().count() >= 4);
        assert!(place.parts().any(|part| part.properties.mover.is_some()));
        assert!(place.parts().any(|part| !part.properties.anchored));
    }

    // T-44
    #[test]
    fn a_wrong_place_is_named_with_line_and_key() {
        let failure = compile("x.toml", "name = \"x\"\nsize = 4\n").unwrap_err().to_string();
        assert!(failure.starts_with("x.toml: line 2") && failure.contains("size"), "{failure}");
        let failure = load(Some(Path::new("no-such-place.toml"))).unwrap_err().to_string();
        assert!(failure.starts_with("no-such-place.toml: cannot be read"), "{failure}");
    }
}
