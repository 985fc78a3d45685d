//! `aegis`: one binary, one subcommand for each process of the lab. Each subcommand lives in the room that
//! it belongs to; here is only the choice.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use server::{cases, doctor, homework, http, matrix, replica, run, say, warden};
use tracing_subscriber::EnvFilter;

/// A teaching lab on distributed locks: real replicas, real stores, real faults, measured verdicts.
#[derive(Parser)]
#[command(name = "aegis", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the lab's pages.
    Serve(http::serve::Args),
    /// Run scenario files and say what came of them.
    Run(run::cli::Args),
    /// Print the reference of the scenario format.
    Format,
    /// Say which broken variant is caught by which scenario.
    Cases(cases::Args),
    /// Measure which failure which lock covers.
    Matrix(matrix::cli::Args),
    /// Grade an answer to an exercise of the homework.
    Grade(homework::cli::Args),
    /// Say what the lab finds on this machine, what is missing, and how to get it.
    Doctor(doctor::Args),
    /// The parent of every store and replica; the server starts it.
    #[command(hide = true)]
    Warden,
    /// One replica: control lines on standard input, event lines on standard output.
    #[command(hide = true)]
    Replica,
}

fn main() -> ExitCode {
    let filter = match std::env::var("AEGIS_LOG") {
        Ok(asked) => match EnvFilter::try_new(&asked) {
            Ok(filter) => filter,
            Err(error) => {
                say::error(format_args!("AEGIS_LOG={asked:?}: {error}; give levels, for example warn,server=debug"));
                // As for any other bad usage.
                return ExitCode::from(2);
            }
        },
        Err(_) => EnvFilter::new("warn,server=info"),
    };
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match Cli::parse().command {
        Command::Serve(args) => http::serve::main(args),
        Command::Run(args) => run::cli::main(args),
        Command::Format => {
            say::line(locks::scenario::FORMAT.trim());
            ExitCode::SUCCESS
        }
        Command::Cases(args) => cases::main(&args),
        Command::Matrix(args) => matrix::cli::main(args),
        Command::Grade(args) => homework::cli::main(args),
        Command::Doctor(args) => doctor::main(args),
        Command::Warden => warden::child::main(),
        Command::Replica => replica::main(),
    }
}
