//! How every command begins that opens a lab, does its work there and ends: what is asked is read before anything
//! is started, signals are heard before the lab is opened, and the exit status is one of four in all of them.

use std::process::ExitCode;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::lab::{Lab, LabConfig};
use crate::{say, told};

/// All is as it should be.
pub const GOOD: u8 = 0;
/// Something is not what was expected.
pub const DIFFERS: u8 = 1;
/// Bad usage, or a bad scenario.
pub const BAD: u8 = 2;
/// Nothing was proved, or the lab itself failed.
pub const NO_RESULT: u8 = 3;

/// Do that work for what was asked, or say what is wrong with it.
pub fn run<A, F: Future<Output = u8>>(
    asked: Result<A, Vec<String>>,
    config: LabConfig,
    work: impl FnOnce(A, Arc<Lab>, CancellationToken) -> F,
) -> ExitCode {
    let asked = match asked {
        Ok(asked) => asked,
        Err(problems) => {
            problems.iter().for_each(say::error);
            return ExitCode::from(BAD);
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say::error(error);
            return ExitCode::from(NO_RESULT);
        }
    };
    let status = runtime.block_on(async {
        let told_to_end = told::cancels(NO_RESULT)
            .inspect_err(|error| say::error(format_args!("signals cannot be heard: {error}")))
            .ok()?;
        let lab = Lab::open(config).await.inspect_err(|error| say::error(error)).ok()?;
        Some(work(asked, lab, told_to_end).await)
    });
    ExitCode::from(status.unwrap_or(NO_RESULT))
}
