//! The `offcut` command.

mod arguments;
mod command;
mod environment;
mod failure;
mod format;

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
    };
    failure::exit_code(result)
}
