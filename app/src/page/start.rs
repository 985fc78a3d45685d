//! The start page: what this is in three lines and one picture, and one thing to do.

use leptos::prelude::*;
use leptos_meta::Title;

/// `/`
#[component]
pub fn StartPage() -> impl IntoView {
    view! {
        <Title text="" />
        <main id="main" class="start">
            <div class="start-t">
                <h1>"Which failure does your lock actually cover?"</h1>
                <p>"Real scheduler replicas race for real locks, in a real Postgres, on your machine."</p>
                <p>"Watch them collide, keep them apart with one strategy after another, then break each strategy."</p>
                <p>"Nothing is pretended: every row, command and lost lock on these pages was read where it happened."</p>
                <p class="start-a">
                    <a class="btn btn-main btn-l" href="/lab" rel="external">
                        "Start"
                    </a>
                    <span class="muted">"The lab opens with three replicas and no lock."</span>
                </p>
            </div>
        </main>
    }
    .into_any()
}
