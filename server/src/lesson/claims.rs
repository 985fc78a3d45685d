//! What the text says of cells of the failure matrix is what the matrix expects, which `aegis matrix` measures.

use app::lesson::Lesson;
use locks::guard::Guard;
use locks::matrix::Coverage;

use crate::matrix::expected;

#[test]
fn every_claim_of_the_text_is_what_the_matrix_expects() {
    let lesson = Lesson::get().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    let mut claims = 0;
    for (number, text) in &lesson.steps {
        for claim in &text.claims {
            let guard: Option<Guard> = claim.guard.as_ref().map(|guard| guard.parse().unwrap());
            let cell = expected::of(&claim.fault, &claim.strategy);
            let cell =
                cell.unwrap_or_else(|| panic!("step {number}: there is no cell {}/{}", claim.strategy, claim.fault));
            let said = if claim.covered { Coverage::Covered } else { Coverage::NotCovered };
            assert_eq!(cell.behind(guard), said, "step {number}: {claim:?}");
            claims += 1;
        }
    }
    assert!(claims > 20, "only {claims} claims");
}
