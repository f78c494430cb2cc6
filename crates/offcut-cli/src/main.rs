//! The `offcut` command.

mod arguments;
mod command;
mod config;
mod environment;
mod failure;
mod format;
mod housekeeping;
mod tokens;

use arguments::{Arguments, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Cut(cut) => command::cut(&arguments.everywhere, cut),
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
