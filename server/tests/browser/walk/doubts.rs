//! Step 7: a test of one's own in the page and from the command line, a seed, five kills.

use std::process::Command;
use std::time::Duration;

use crate::common::served::Served;
use crate::common::{aegis, data_dir};
use crate::learner::{Learner, ticked};

/// A script on stores of its own, on a busy machine.
const MEASURED: Duration = Duration::from_secs(120);

/// See the module.
pub async fn tests(one: &Learner, lab: &Served) {
    one.to_step(lab, 7).await;
    one.answer("p1", "green").await;
    own_is_run(one, "pg-lease", "an expectation failed").await;
    own_is_run(one, "pg-row-lock", "all held").await;
    one.until("green under one, red under another", &ticked("a")).await;

    // The same from the command line: what stands on the page, as a file.
    let script = one.script("return document.getElementById('own-t').value").await;
    let folder = data_dir();
    let (file, out) = (folder.path().join("own.toml"), folder.path().join("out"));
    std::fs::write(&file, script.as_str().unwrap()).unwrap();
    let mut run = Command::new(aegis());
    run.arg("run").arg(&file).args(["--strategy", "pg-lease", "--record"]).arg(&out);
    run.arg("--data-dir").arg(folder.path());
    let ended = tokio::task::spawn_blocking(move || run.output()).await.unwrap().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{}", String::from_utf8_lossy(&ended.stderr));
    let recorded = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    one.press_by("#task-b a[href='/runs']").await;
    one.until("the runs", "return location.pathname === '/runs'").await;
    one.give_file("input[type=file]", recorded.to_str().unwrap()).await;
    one.until("it is stored", "return location.pathname.startsWith('/runs/')").await;
    one.on_to(7).await;
    one.until("the page is not the lab", &ticked("b")).await;

    one.write("#own-t", CHAOS).await;
    for _ in 0..2 {
        own_is_run(one, "pg-lease", "all held").await;
    }
    one.until("the same seed twice", &ticked("c")).await;
    one.reload().await;
    one.play("five-kills", "d", 1).await;
    one.step_is_done().await;
}

const CHAOS: &str = "name = 'own'
title = 'a series'
[setup]
strategy = 'pg-lease'
replicas = ['A', 'B']
lease_ms = 1000
work_ms = 50
guard = 'current-epoch'
[[step]]
chaos = { seed = 3, faults = 2, limit_ms = 20000 }
[expect]
stale_effects = 0
";

/// Run what stands in the page under a strategy.
async fn own_is_run(one: &Learner, strategy: &str, outcome: &str) {
    one.choose("#editor select", strategy).await;
    one.move_by("Run it").await;
    // That a run has begun and ended is seen by the run that it leads to.
    let over = format!(
        "const of = document.getElementById('l-own'), run = of.querySelector('a')?.getAttribute('href');
         return of.textContent.includes('Under {strategy}: {outcome}') && run !== window.ownRun && (window.ownRun = run, true)"
    );
    one.until_within(MEASURED, &format!("{strategy}: {outcome}"), &over).await;
}
