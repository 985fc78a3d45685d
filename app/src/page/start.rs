//! The start page: what this is in three lines and one picture, and one thing to do.

use leptos::prelude::*;

/// A paused holder whose lease ran out, drawn with the timeline's own marks.
const PICTURE: &str = include_str!("start.svg");

/// `/`
pub(crate) fn page() -> impl IntoView {
    view! {
        <main id="main" class="start">
            <div class="start-t">
                <h1>"Which failure does your lock actually cover?"</h1>
                <p>"Real scheduler replicas race for real locks, in real Postgres and Redis, on your machine."</p>
                <p>"Watch them collide, keep them apart with a lock, then break that lock with real faults."</p>
                <p>"Nothing is pretended: every row, command and lost lock was read where it happened."</p>
                <p class="start-a">
                    <a class="btn btn-main btn-l" href="/lab" rel="external">
                        "Start"
                    </a>
                    <span class="muted">"The lab opens with three replicas and no lock."</span>
                </p>
            </div>
            <figure class="panel start-p">
                <svg viewBox="0 0 560 236" role="img" aria-labelledby="start-c" inner_html=PICTURE></svg>
                <figcaption id="start-c">
                    "A is paused while it holds the lock. Its lease runs out, B takes over, and for a while both are inside: A believes, the store denies, and what the sink accepts decides whether it does harm."
                </figcaption>
            </figure>
        </main>
    }
}
