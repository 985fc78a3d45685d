//! The stages of the lesson, compiled in: a scenario file each, whose set-up opens a live session and whose steps,
//! if it has any, are played on it at once.

use include_dir::{Dir, include_dir};
use locks::scenario::{Problem, Scenario};

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/lesson");

/// The stage of that name.
pub fn find(name: &str) -> Option<Result<Scenario, Vec<Problem>>> {
    let file = FILES.get_file(format!("{name}.toml"))?;
    Some(Scenario::parse(file.contents_utf8().unwrap_or_default()))
}

/// The names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.files().filter_map(|file| file.path().file_stem()?.to_str())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use app::lesson::Lesson;
    use locks::setup::Setup;

    use super::*;

    #[test]
    fn every_stage_can_be_read_and_fits_a_live_session() {
        for name in names() {
            let scenario = find(name).unwrap().unwrap_or_else(|problems| panic!("{}", Problem::render_all(&problems, name)));
            assert_eq!(scenario.name, name);
            assert!(scenario.setup.replicas.len() <= Setup::MAX_LIVE_REPLICAS, "{name}");
        }
    }

    #[test]
    fn the_text_opens_every_stage_and_no_other() {
        let lesson = Lesson::get().unwrap();
        let opened: BTreeSet<&str> =
            lesson.steps.values().flat_map(|text| text.stages()).map(|stage| stage.name.as_str()).collect();
        assert_eq!(opened, names().collect());
    }
}
