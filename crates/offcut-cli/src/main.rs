//! The `offcut` command.

#![cfg_attr(all(bare_start, not(test)), no_main)]

mod agent;
mod arguments;
mod command;
mod config;
mod environment;
mod failure;
mod fleet;
mod format;
mod hook;
mod housekeeping;
mod install;
mod log;
mod process;
mod stream;
mod tokens;

use arguments::{Arguments, Command, Everywhere};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use command::ShellName;

/// Where the system starts us.
///
/// The standard library's own start costs a fifth of all the time we take when there is nothing to cut (it reads the map
/// of our memory and prepares for an overflow of the stack), and it forgets how signals were set.
#[cfg(all(bare_start, not(test)))]
#[expect(unsafe_code, reason = "the name is the system's")]
// SAFETY: nothing else in the program has this name, and it is the function that the system's start calls by it.
#[unsafe(no_mangle)]
extern "C" fn main(_count: std::ffi::c_int, _arguments: *const *const std::ffi::c_char) -> std::ffi::c_int {
    // To exit is also to write what is left in the buffer of standard output.
    std::process::exit(i32::from(offcut()))
}

#[cfg(any(test, not(bare_start)))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(offcut())
}

fn offcut() -> u8 {
    let inherited = process::Inherited::take();
    // Not a command for people, and nothing about the command line or the configuration may stop it.
    let mut given = std::env::args_os().skip(1);
    if given.next().is_some_and(|first| first == process::DRAIN) {
        process::drain(&given.collect::<Vec<_>>());
        return 0;
    }
    // A shell's arguments are its own, `--help` included.
    if let Some(name) = std::env::args_os().next().and_then(|program| ShellName::of(&program)) {
        let shell = arguments::Shell { arguments: std::env::args_os().skip(1).collect() };
        return command::shell(&Everywhere::default(), &shell, &name, inherited);
    }
    let arguments = match Arguments::hot().map_or_else(Arguments::try_parse, Ok) {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let result = match &arguments.command {
        Command::Shell(shell) => {
            return command::shell(&arguments.everywhere, shell, &ShellName::Users, inherited);
        }
        Command::Hook(hook) => return command::hook(&arguments.everywhere, hook),
        Command::Run(run) => return command::run(&arguments.everywhere, run, inherited),
        Command::Mcp(mcp) => return command::mcp(&arguments.everywhere, mcp),
        Command::Doctor => command::doctor(&arguments.everywhere),
        Command::Init(init) => command::init(&arguments.everywhere, init),
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

/// Help, or a command line that is wrong: for `run` that is 125, because 2 may be the command's own; for `hook` it is none,
/// because to agents 2 means that the tool must not run.
fn refuse(error: &clap::Error) -> u8 {
    let _ = error.print();
    if !error.use_stderr() {
        return 0;
    }
    let matches = Arguments::command().ignore_errors(true).try_get_matches();
    match matches.ok().and_then(|matches| matches.subcommand_name().map(str::to_owned)) {
        Some(name) if name == "run" => {
            if error.kind() == ErrorKind::UnknownArgument {
                eprintln!("hint: put the command after `--`: offcut run -- CMD ARGS...");
            }
            command::RUN_USAGE
        }
        Some(name) if name == "hook" => command::unknown_hook(&error.to_string()),
        _ => 2,
    }
}
