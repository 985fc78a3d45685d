//! The stages of the lesson, compiled in: a scenario file each, whose set-up opens a live session and whose steps,
//! if it has any, are played on it at once. `pause-at-effect@redlock+unique-slot` is the same file under another
//! strategy and behind another guard; `pause-at-effect@redlock` behind none.

use include_dir::{Dir, include_dir};
use locks::scenario::{Problem, Scenario};

static FILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/lesson");

/// The stage of that name; the lab's own files can be read, a test sees to it.
pub fn find(name: &str) -> Option<Scenario> {
    let (file, under) = match name.split_once('@') {
        Some((file, under)) => (file, Some(under)),
        None => (name, None),
    };
    let mut scenario = read(file)?.ok()?;
    if let Some(under) = under {
        let (strategy, guard) = under.split_once('+').unwrap_or((under, "none"));
        scenario.setup.strategy = strategy.into();
        scenario.setup.guard = match guard {
            "none" => Vec::new(),
            guard => vec![guard.parse().ok()?],
        };
    }
    locks::strategy::find(&scenario.setup.strategy).ok()?;
    Some(scenario)
}

fn read(file: &str) -> Option<Result<Scenario, Vec<Problem>>> {
    let file = FILES.get_file(format!("{file}.toml"))?;
    Some(Scenario::parse(file.contents_utf8().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use app::lesson::Lesson;
    use locks::setup::Setup;

    use super::*;

    fn names() -> impl Iterator<Item = &'static str> {
        FILES.files().filter_map(|file| file.path().file_stem()?.to_str())
    }

    #[test]
    fn every_file_can_be_read_and_fits_a_live_session() {
        for name in names() {
            let scenario =
                read(name).unwrap().unwrap_or_else(|problems| panic!("{}", Problem::render_all(&problems, name)));
            assert_eq!(scenario.name, name);
            assert!(scenario.setup.replicas.len() <= Setup::MAX_LIVE_REPLICAS, "{name}");
        }
    }

    #[test]
    fn the_text_opens_stages_that_there_are_and_uses_every_file() {
        let lesson = Lesson::get().unwrap();
        let opened: BTreeSet<&str> =
            lesson.steps.values().flat_map(|text| text.stages()).map(|stage| stage.name.as_str()).collect();
        for name in &opened {
            assert!(find(name).is_some(), "there is no stage {name}");
        }
        let files: BTreeSet<&str> = opened.iter().map(|name| name.split('@').next().unwrap()).collect();
        assert_eq!(files, names().collect());
    }

    #[test]
    fn a_name_may_say_under_which_strategy_and_behind_which_guard() {
        let plain = find("one-replica").unwrap();
        let other = find("one-replica@pg-lease/no-owner-check+unique-slot").unwrap();
        assert_eq!(other.setup.strategy.to_string(), "pg-lease/no-owner-check");
        assert_eq!(other.setup.guard, [locks::guard::Guard::UniqueSlot]);
        assert_eq!((plain.steps, plain.setup.replicas), (other.steps, other.setup.replicas));
        assert!(find("one-replica@no-such-lock").is_none() && find("no-such-file").is_none());
    }
}
