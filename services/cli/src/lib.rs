//! The binary `mnemic`: all of Mnemic in one process, and the commands for a server.
//!
//! [`args`](self) defines the commands, and each has a module that implements it. `serve`, `demo`, `doctor`, `backup`,
//! `restore` and `config` work on this machine; the others use HTTP through `api`, and need only a URL and a key. Only
//! `out` and `render` write text for people.

mod api;
mod args;
mod ask;
mod browse;
mod completions;
mod config;
mod demo;
mod doctor;
#[cfg(test)]
mod documents;
mod drift;
mod erasures;
mod export;
mod import;
mod keys;
mod letters;
mod mcp;
mod memory;
mod out;
mod provision;
mod readings;
mod rebuild;
mod records;
mod render;
mod serve;
mod settings;
mod spaces;
mod units;
mod upkeep;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

/// The outcome of a command, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Success.
    Done,
    /// The command ran, but its result is negative: skipped lines, insufficient evidence, sessions that wait to be
    /// read, a fault of the installation, drift.
    Lacking,
}

/// Exit code of [`Outcome::Lacking`]; 1 is a failure and 2 a wrong command line.
const LACKING: u8 = 3;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    host::provide_tls();
    let outcome = match Args::parse().command {
        Command::Serve(args) => return serve::serve(&args),
        Command::Provision(args) => block_on(provision::provision(&args)),
        Command::Demo(args) => return demo::demo(&args),
        Command::Import(args) => block_on(import::import(&args)),
        Command::Export(args) => block_on(export::export(&args)),
        Command::Ask(args) => block_on(ask::ask(&args)),
        Command::Facts(args) => block_on(memory::facts(&args)),
        Command::Units(args) => block_on(units::units(&args)),
        Command::Topics(args) => block_on(browse::topics(&args)),
        Command::Pages(args) => block_on(browse::pages(&args)),
        Command::Entities(args) => block_on(browse::entities(&args)),
        Command::Curations(args) => block_on(browse::curations(&args)),
        Command::Recall(args) => block_on(memory::recall(&args)),
        Command::Read(args) => block_on(readings::read_space(&args)),
        Command::Readings(args) => block_on(readings::readings(&args)),
        Command::Mcp(args) => match &args.data {
            Some(data) => return mcp::alone(&args, data),
            None => block_on(mcp::mcp(&args)),
        },
        Command::Records(args) => block_on(records::records(&args)),
        Command::Erase(args) => block_on(records::erase(&args)),
        Command::Erasures(args) => block_on(erasures::erasures(&args)),
        Command::Spaces(args) => block_on(spaces::spaces(&args)),
        Command::DeadLetters(args) => block_on(letters::letters(&args)),
        Command::Doctor(args) => block_on(doctor::doctor(&args)),
        Command::Rebuild(args) => block_on(rebuild::rebuild(&args)),
        Command::Backup(args) => upkeep::backup(&args),
        Command::Restore(args) => upkeep::restore(&args),
        Command::Config(args) => config::show(&args),
        Command::Keys(args) => block_on(keys::keys(&args)),
        Command::Completions(args) => Ok(completions::write(&args)),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Lacking) => ExitCode::from(LACKING),
        Err(error) => {
            out::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(work)
}
