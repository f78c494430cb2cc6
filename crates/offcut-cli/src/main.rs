//! The `offcut` command.

mod arguments;
mod command;
mod config;
mod environment;
mod failure;
mod format;
mod housekeeping;
mod process;
mod stream;
mod tokens;

use arguments::{Arguments, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Not a command for people, and nothing about the command line or the configuration may stop it.
    let mut given = std::env::args_os().skip(1);
    if given.next().is_some_and(|first| first == process::DRAIN) {
        process::drain(&given.collect::<Vec<_>>());
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::hot().map_or_else(Arguments::try_parse, Ok) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let result = match &arguments.command {
        Command::Run(run) => return command::run(&arguments.everywhere, run),
        Command::Cut(cut) => command::cut(&arguments.everywhere, cut),
        Command::Result(result) => command::result(&arguments.everywhere, result),
        Command::Read(read) => command::read(&arguments.everywhere, read),
        Command::Cat(cat) => command::cat(&arguments.everywhere, cat),
        Command::Ls(ls) => command::ls(&arguments.everywhere, ls),
        Command::Rm(rm) => command::rm(&arguments.everywhere, rm),
        Command::Profiles(profiles) => command::profiles(&arguments.everywhere, profiles),
        Command::Grep(grep) => command::grep(&arguments.everywhere, grep),
        Command::Show(reference) => command::show(&arguments.everywhere, reference),
        Command::Pin(pinning) => command::pin(&arguments.everywhere, pinning),
        Command::Clean(clean) => command::clean(&arguments.everywhere, clean),
        Command::Stats(stats) => command::stats(&arguments.everywhere, stats),
        Command::Config(config) => command::config(&arguments.everywhere, config),
        Command::Completions(completions) => command::completions(completions),
        Command::Man => command::manual(),
        Command::Docs(documentation) => command::documentation(documentation),
    };
    failure::exit_code(result)
}

/// Help, or a command line that is wrong: for `run` that is 125, because 2 may be the command's own.
fn refuse(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if !error.use_stderr() {
        return ExitCode::SUCCESS;
    }
    let matches = Arguments::command().ignore_errors(true).try_get_matches();
    match matches.ok().and_then(|matches| matches.subcommand_name().map(str::to_owned)) {
        Some(name) if name == "run" => ExitCode::from(command::RUN_USAGE),
        _ => ExitCode::from(2),
    }
}
