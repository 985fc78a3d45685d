//! The start page: what this is in three lines, a recorded run in which two replicas collide, and one thing to do.

use leptos::prelude::*;

mod replay;

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
                    <a class="btn btn-main btn-l" href="/lesson/1" rel="external">
                        "Begin the lesson"
                    </a>
                    <a class="btn btn-l" href="/lab" rel="external">
                        "Open the lab"
                    </a>
                    <span class="muted">"Eight steps on labs of your own; the lab alone opens with three replicas and no lock."</span>
                </p>
            </div>
            <figure class="panel replay" id="replay" inner_html=replay::figure() data-ms=replay::whole_ms()></figure>
        </main>
    }
}
