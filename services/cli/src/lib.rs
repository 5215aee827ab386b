//! The binary `mnemic`: all of Mnemic in one process, and the commands for a server.
//!
//! [`args`](self) defines the commands, and each has a module that implements it. `local_commands` work on this
//! machine: `serve`, `demo`, `doctor`, `backup`, `restore`, `config` and others. `remote_commands`, `import` and `mcp`
//! use HTTP through `api`, and need only a URL and a key. Only `output` and `render` write text for people.

mod api;
mod args;
mod import;
mod local_commands;
mod mcp;
mod output;
mod remote_commands;
mod render;

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
pub fn run_command_line() -> ExitCode {
    host::provide_tls();
    let outcome = match Args::parse().command {
        Command::Serve(args) => return local_commands::serve::run_server(&args),
        Command::Provision(args) => block_on(local_commands::provision::provision_servers(&args)),
        Command::Demo(args) => return local_commands::demo::run_demo(&args),
        Command::Import(args) => block_on(import::import_file(&args)),
        Command::Export(args) => block_on(remote_commands::export::export_space(&args)),
        Command::Ask(args) => block_on(remote_commands::ask::ask_question(&args)),
        Command::Facts(args) => block_on(remote_commands::facts_and_hints::print_facts(&args)),
        Command::Units(args) => block_on(remote_commands::units::print_units(&args)),
        Command::Topics(args) => block_on(remote_commands::derived_objects::print_topics(&args)),
        Command::Pages(args) => block_on(remote_commands::derived_objects::print_pages(&args)),
        Command::Entities(args) => block_on(remote_commands::derived_objects::print_entities(&args)),
        Command::Curations(args) => block_on(remote_commands::derived_objects::print_curations(&args)),
        Command::Recall(args) => block_on(remote_commands::facts_and_hints::print_hints(&args)),
        Command::Read(args) => block_on(remote_commands::readings::read_space(&args)),
        Command::Readings(args) => block_on(remote_commands::readings::print_readings(&args)),
        Command::Mcp(args) => match &args.data {
            Some(data) => return mcp::serve_agent_from_folder(&args, data),
            None => block_on(mcp::forward_agent_requests(&args)),
        },
        Command::Records(args) => block_on(remote_commands::records::print_records(&args)),
        Command::Erase(args) => block_on(remote_commands::records::erase_records(&args)),
        Command::Erasures(args) => block_on(remote_commands::erasures::run_erasures_command(&args)),
        Command::Spaces(args) => block_on(remote_commands::spaces::run_spaces_command(&args)),
        Command::DeadLetters(args) => block_on(remote_commands::dead_letters::run_dead_letters_command(&args)),
        Command::Doctor(args) => block_on(local_commands::doctor::check_installation(&args)),
        Command::Rebuild(args) => block_on(remote_commands::rebuild::rebuild_space(&args)),
        Command::Backup(args) => local_commands::backup::back_up_memory(&args),
        Command::Restore(args) => local_commands::backup::restore_memory(&args),
        Command::Config(args) => local_commands::config::print_settings(&args),
        Command::Keys(args) => block_on(remote_commands::keys::run_keys_command(&args)),
        Command::Completions(args) => Ok(local_commands::completions::print_completion_script(&args)),
    };
    let outcome = outcome.and_then(|outcome| match output::write_error() {
        Some(error) => Err(anyhow::anyhow!("cannot write to standard output: {error}")),
        None => Ok(outcome),
    });
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Lacking) => ExitCode::from(LACKING),
        Err(error) => {
            output::print_error_line(&format!("error: {error:#}"));
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
