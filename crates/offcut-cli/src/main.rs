//! The `offcut` command: parses the command line and runs one of the commands in `command/`.

#![cfg_attr(all(bare_start, not(test)), no_main)]
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod agents;
mod arguments;
mod command;
mod config;
mod diagnostic;
mod environment;
mod failure;
mod fallback;
mod filter;
mod fleet;
mod format;
mod hook;
mod housekeeping;
mod human;
mod install;
mod ledger;
mod log;
mod origin;
mod pass;
mod pattern;
mod process;
mod stream;
mod suggestion;
mod tokens;
mod usage;

use arguments::{Arguments, Command, GlobalOptions};
use command::ShellName;
use std::ffi::OsStr;

/// The entry point, in place of the one of the standard library (see docs/decisions/0011-no-main.md).
///
/// The standard start-up code sets SIGPIPE to ignored before its inherited disposition can be read, and takes a fifth of
/// the run time of a call with nothing to shorten.
#[cfg(all(bare_start, not(test)))]
#[expect(unsafe_code, reason = "the C runtime calls the entry point by this name")]
// SAFETY: no other function has this name, and the signature is the one that the C runtime expects.
#[unsafe(no_mangle)]
extern "C" fn main(_count: std::ffi::c_int, _arguments: *const *const std::ffi::c_char) -> std::ffi::c_int {
    // `exit` also flushes standard output.
    std::process::exit(i32::from(offcut()))
}

#[cfg(any(test, not(bare_start)))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(offcut())
}

fn offcut() -> u8 {
    let inherited = process::InheritedState::capture();
    // Internal commands, which must work with any command line and configuration.
    let mut rest = std::env::args_os().skip(1);
    match rest.next().as_deref().and_then(OsStr::to_str) {
        Some(process::DRAIN) => {
            process::drain(&rest.collect::<Vec<_>>());
            return 0;
        }
        Some(command::COMPLETE) => return failure::exit_code(command::complete(rest.collect())),
        _ => {}
    }
    // A link has the name of a shell, and the scripts of `offcut init` pass it as the first argument. All arguments after it
    // belong to the shell, including `--help`.
    let mut rest = std::env::args_os();
    if let Some(name) = rest.by_ref().take(2).find_map(|argument| ShellName::of(&argument)) {
        let shell = arguments::Shell { arguments: rest.collect() };
        return command::shell(&GlobalOptions::default(), &shell, &name, inherited);
    }
    let arguments = match Arguments::parse_frequent_commands().map_or_else(Arguments::try_parse_all, Ok) {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(&error),
    };
    let result = match &arguments.command {
        Command::Shell(shell) => {
            return command::shell(&arguments.global, shell, &ShellName::Users, inherited);
        }
        Command::Hook(hook) => return command::hook(&arguments.global, hook),
        Command::Run(run) => return command::run(&arguments.global, run, inherited),
        Command::Mcp(mcp) => return command::mcp(&arguments.global, mcp),
        Command::Doctor => command::doctor(&arguments.global),
        Command::Init(init) => command::init(&arguments.global, init),
        Command::Cut(cut) => command::cut(&arguments.global, cut),
        Command::Result(result) => command::result(&arguments.global, result),
        Command::Read(read) => command::read(&arguments.global, read),
        Command::Cat(cat) => command::cat(&arguments.global, cat),
        Command::Ls(ls) => command::ls(&arguments.global, ls),
        Command::Rm(rm) => command::rm(&arguments.global, rm),
        Command::Profiles(profiles) => command::profiles(&arguments.global, profiles),
        Command::Rules(rules) => command::rules(&arguments.global, rules),
        Command::Grep(grep) => command::grep(&arguments.global, grep),
        Command::Show(show) => command::show(&arguments.global, show),
        Command::Pin(pinning) => command::pin(&arguments.global, pinning),
        Command::Unpin(unpinning) => command::unpin(&arguments.global, unpinning),
        Command::Clean(clean) => command::clean(&arguments.global, clean),
        Command::Fsck(fsck) => command::fsck(&arguments.global, fsck),
        Command::Stats(stats) => command::stats(&arguments.global, stats),
        Command::Config(config) => command::config(&arguments.global, config),
        Command::Completions(completions) => command::completions(completions),
        Command::Man(manual) => command::manual(manual),
        Command::Docs(documentation) => command::documentation(documentation),
    };
    failure::exit_code(result)
}
