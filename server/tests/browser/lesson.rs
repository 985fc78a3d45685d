//! A page of the lesson with a stage on it: no wider than any screen, and no heavier than it may be.

use crate::common::served::Served;
use crate::hand::Hand;
use crate::learner::Learner;

/// Everything that a page of the lesson loads, as it came over the wire, in bytes.
const OVER_THE_WIRE: &str = "const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    return all.filter(entry => !entry.name.includes('/events')).map(entry => entry.transferSize).reduce((a, b) => a + b, 0)";
/// No page of the lesson is heavier, in all.
const WEIGHT: u64 = 350_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the page and a browser: scripts/test runs it"]
async fn a_page_with_a_stage_fits_and_is_light() {
    let lab = Served::start();
    let one = Learner::open(Hand::Mouse, 1440, 900).await;
    one.to_step(&lab, 3).await;
    one.keep("lesson-before").await;
    one.open_stage("look-then-take").await;
    one.steps("A", "a").await;
    for (name, width, height) in [("phone", 390, 844), ("desk", 1440, 900)] {
        one.resize(width, height).await;
        for scheme in ["light", "dark"] {
            one.client.refresh().await.unwrap();
            one.until("the page", "return document.querySelector('.tl svg') !== null && hydrated()").await;
            one.theme(scheme).await;
            one.keep(&format!("lesson-{name}-{scheme}")).await;
            let wide = one.script(&format!("return document.documentElement.scrollWidth - {width}")).await;
            assert_eq!(wide, 0, "the lesson at {width} is wider than the screen");
        }
    }

    // With a stage and a run on it, for a browser that was never here; the text of another step, without.
    for (step, whole) in [(3, "return hydrated()"), (8, "return document.querySelectorAll('.ask').length > 10")] {
        one.forget().await;
        one.to_step(&lab, step).await;
        one.until("all of the page", whole).await;
        let bytes = one.script(OVER_THE_WIRE).await.as_u64().unwrap();
        assert!((1000..WEIGHT).contains(&bytes), "step {step}: {bytes} bytes over the wire");
    }
    one.close().await;
}
