//! How fast the lab is, on real stores and in a real browser: prints a Markdown table of figures beside
//! their limits. A benchmark and never a test: a figure over its limit is shown, and fails nobody. Started
//! by `scripts/bench`, which builds what it needs, bounds its time and clears up behind it.

#[path = "lab/alive.rs"]
mod alive;
#[path = "lab/arena.rs"]
mod arena;
// The browser's own tests drive it too; the benchmark needs less of it.
#[path = "../tests/browser/chrome.rs"]
#[allow(dead_code)]
mod chrome;
#[path = "lab/figures.rs"]
mod figures;
#[path = "lab/frames.rs"]
mod frames;
#[path = "lab/link.rs"]
mod link;
#[path = "lab/long_log.rs"]
mod long_log;
#[path = "lab/memory.rs"]
mod memory;
#[path = "lab/on_screen.rs"]
mod on_screen;
#[path = "lab/serve.rs"]
mod serve;
#[path = "lab/strategies/mod.rs"]
mod strategies;
#[path = "lab/table.rs"]
mod table;
#[path = "lab/visit.rs"]
mod visit;
#[path = "lab/warm_start.rs"]
mod warm_start;
#[path = "lab/wasm.rs"]
mod wasm;

use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use server::lab::{Lab, LabConfig};
use server::say;
use tokio::task::LocalSet;

use table::{Contention, Figure, Table};
use visit::Visit;

/// Why there is no figure.
type Failure = Box<dyn std::error::Error>;

/// No part may take longer; together they take some minutes.
const START_LIMIT: Duration = Duration::from_secs(30);
const STORES_LIMIT: Duration = Duration::from_secs(180);
const BROWSER_LIMIT: Duration = Duration::from_secs(75);
const BUSY_LIMIT: Duration = Duration::from_secs(240);

/// One thread, as a replica has: bare statements are then sent the way in which a driver sends its own.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let data = match serve::data_dir() {
        Ok(data) => data,
        Err(error) => {
            say::error(format_args!("no folder for the lab's data: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let (path, mut table) = (data.path().to_owned(), Table::of(wanted()));
    let contentions = Rc::new(RefCell::new(Vec::new()));
    let parts = async {
        table.add("warm start", START_LIMIT, warm_start::measure(path.clone())).await;
        table.add("stores", STORES_LIMIT, on_stores(path.clone(), contentions.clone())).await;
        table.add("browser", BROWSER_LIMIT, in_browser(path.clone())).await;
        table.add("busy browser", BUSY_LIMIT, in_busy_browser(path)).await;
        table.add("wasm", START_LIMIT, wasm::measure()).await;
    };
    LocalSet::new().run_until(parts).await;
    table.print();
    table::print_contention(&contentions.borrow());
    if table.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The parts that the command line asks for. What begins with a dash is cargo's own word.
fn wanted() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect()
}

/// The program under measurement.
fn aegis() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_aegis"))
}

/// What is measured in an arena of this process.
async fn on_stores(data: PathBuf, contentions: Rc<RefCell<Vec<Contention>>>) -> Result<Vec<Figure>, Failure> {
    let config = LabConfig { data_dir: Some(data), aegis: Some(aegis()), cold: true, ..LabConfig::default() };
    let lab = Lab::open(config).await?;
    let measured = async {
        let (made, arena) = arena::measure(&lab).await?;
        let figures = async {
            let mut figures = vec![made, link::measure(&arena).await?];
            let (of_one, of_many) = strategies::measure(&arena).await?;
            figures.extend(of_one);
            contentions.replace(of_many);
            Ok(figures)
        }
        .await;
        arena.close().await;
        figures
    };
    let figures = measured.await;
    lab.close().await;
    figures
}

/// What is measured in a live session that somebody watches.
async fn in_browser(data: PathBuf) -> Result<Vec<Figure>, Failure> {
    let visit = Visit::open(&data).await?;
    let measured = async {
        let mut figures = vec![on_screen::measure(&visit).await?];
        figures.extend(memory::measure(&visit).await?);
        figures.push(alive::measure(&visit).await?);
        Ok(figures)
    };
    let figures = measured.await;
    visit.close().await?;
    figures
}

/// What is measured in the busiest session that there is.
async fn in_busy_browser(data: PathBuf) -> Result<Vec<Figure>, Failure> {
    let visit = Visit::busiest(&data, frames::CATEGORIES).await?;
    let measured = async {
        let mut figures = vec![frames::measure(&visit).await?];
        figures.extend(long_log::measure(&visit).await?);
        Ok(figures)
    };
    let figures = measured.await;
    visit.close().await?;
    figures
}
