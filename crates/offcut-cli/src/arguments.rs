//! The command line.

mod agents;
mod cutting;
mod keeping;
mod mcp;
mod reading;

pub(crate) use crate::command::Ls;
pub(crate) use agents::{Hook, Init, Shell};
pub(crate) use cutting::{Cut, Run, foreign};
pub(crate) use keeping::{Clean, Pinning, Rm, Stats};
pub(crate) use mcp::{Mcp, Proxy, Serve};
pub(crate) use reading::{Grep, Read, Reference};

use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use offcut::limits::parse_size;
use offcut::results::{Shape, ShapeChoice};

/// A tool prints too much. offcut shows what fits, keeps every byte, and gets any part back.
#[derive(Debug, Parser)]
#[command(name = "offcut", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) everywhere: Everywhere,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Takes a command from what was parsed.
type Reader = fn(&ArgMatches) -> Result<Command, clap::Error>;

impl Arguments {
    /// The commands that stand before every tool call, parsed without building all the others.
    ///
    /// Nothing if it is another command, or a line that only the whole definition can explain.
    pub(crate) fn hot() -> Option<Arguments> {
        let name = std::env::args_os().nth(1)?;
        let whole = Everywhere::augment_args(clap::Command::new("offcut")).disable_help_subcommand(true);
        let (whole, read): (_, Reader) = match name.to_str()? {
            "cut" => {
                let command = Cut::augment_args(clap::Command::new("cut"));
                (whole.subcommand(command), |found| Cut::from_arg_matches(found).map(Command::Cut))
            }
            "run" => {
                let command = Run::augment_args(clap::Command::new("run"));
                (whole.subcommand(command), |found| Run::from_arg_matches(found).map(Command::Run))
            }
            "result" => {
                let command = ToolResult::augment_args(clap::Command::new("result"));
                (whole.subcommand(command), |found| ToolResult::from_arg_matches(found).map(Command::Result))
            }
            "shell" => {
                let command = Shell::augment_args(clap::Command::new("shell"));
                (whole.subcommand(command), |found| Shell::from_arg_matches(found).map(Command::Shell))
            }
            "hook" => {
                let command = Hook::augment_args(clap::Command::new("hook"));
                (whole.subcommand(command), |found| Hook::from_arg_matches(found).map(Command::Hook))
            }
            _ => return None,
        };
        let matches = whole.try_get_matches().ok()?;
        let everywhere = Everywhere::from_arg_matches(&matches).ok()?;
        let command = read(matches.subcommand()?.1).ok()?;
        Some(Arguments { everywhere, command })
    }
}

const EXAMPLES: &str = "Examples:
  offcut run -- cargo test           a preview that fits, the rest kept, the same exit code
  cargo test 2>&1 | offcut cut       a preview that fits, the rest kept
  offcut read last --lines 100:200   any part of it back
  offcut ls                          what is kept";

/// Options of every command.
#[derive(Debug, Default, Args)]
pub(crate) struct Everywhere {
    /// Where whole outputs are kept: a directory, a bucket that many machines share, or `none`
    #[arg(long, global = true, value_name = "DIR|s3://BUCKET/PREFIX|none")]
    pub(crate) store: Option<String>,
    /// How to print: for people and models, or as JSON for programs
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// The profile: limits, strategy and wording (see `offcut profiles`)
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Bound the text on standard input
    ///
    /// Text within the limits comes out byte for byte. A longer text is kept whole in the store, and what comes out
    /// is a preview within the limits that says what is missing and how to get it. A store that fails never makes
    /// this fail: the notice then says that the rest was not kept.
    ///
    /// Without options and configuration: 1900 lines or 9500 bytes, whichever comes first. The least limits are 4
    /// lines, 256 bytes, 256 characters, 128 tokens. Strategies: `head` the beginning, `tail` the end, `head-tail`
    /// both, `smart` the lines that matter, `json` a shorter text that is still JSON, `auto` what suits the text.
    #[command(after_help = "Examples:
  make 2>&1 | offcut cut
  git log | offcut cut --strategy head --max-bytes 4KiB
  offcut cut --format json --tool bash < build.log")]
    Cut(Cut),
    /// Run a command and bound what it prints
    ///
    /// The command is not changed: its arguments arrive as they are given, its input is ours, its exit code is ours.
    /// What it prints on standard output and standard error comes out, in order, when it ends: byte for byte if it is
    /// within the limits, else as a preview, with everything kept. Something the command leaves running stays; what it
    /// prints later is kept too. Exit codes of our own: 124 out of time, 125 usage, 126 not executable, 127 not found.
    #[command(after_help = "Examples:
  offcut run -- cargo test --workspace
  offcut run --timeout 5m -- make -j8
  offcut run --shell 'npm run build | tee build.log'
  offcut run --split -- ./program      standard error bounded by itself, on standard error")]
    Run(Run),
    /// A shell for agents: runs a line in your shell and bounds what it prints
    ///
    /// The arguments are those of your shell (`shell` in the configuration, $OFFCUT_SHELL, $SHELL, else /bin/sh), which
    /// gets them as they are. A line (`-c`) whose output goes to an agent is bounded as by `run`; a script, a terminal
    /// and a shell inside such a line are left to your shell alone. Called as `offcut-sh` this program is this command,
    /// and as `offcut-bash` or `offcut-zsh` it is that shell. `offcut init` puts it into your agent.
    #[command(after_help = "Examples:
  offcut shell -c 'cargo test 2>&1 | tee log; exit 3'
  CLAUDE_CODE_SHELL=~/.local/share/offcut/bin/offcut-bash claude")]
    Shell(Shell),
    /// Answer an agent's hook: one JSON object in, one out
    ///
    /// `offcut init` puts this into the agent. Results within the limits, and whatever is not as expected, are left as
    /// they are, with exit code 0; what was not as expected is told by `offcut doctor`.
    #[command(after_help = "Example:
  offcut hook claude after < payload.json")]
    Hook(Hook),
    /// Put offcut into your agents, or take it out again
    ///
    /// Shows each change as a diff and makes it. Comments, order and everything that is not ours stay as they are;
    /// what a file was before is kept, and `--uninstall` gives it back. Done twice, nothing changes the second time.
    /// Without an agent: those that are installed, one by one, and you are asked.
    #[command(after_help = "Examples:
  offcut init --all
  offcut init claude --dry-run
  offcut init opencode --project
  offcut init codex --uninstall")]
    Init(Init),
    /// Look whether everything works, and say what to do
    ///
    /// Program, configuration, store, and each agent: its shell and its hook are really called with something long.
    /// Exit code 1 if something is wrong.
    #[command(after_help = "Example:
  offcut doctor")]
    Doctor,
    /// Bound the text in a tool result: JSON in, the same shape out
    ///
    /// Only the text that is over the limits and the fields that tell of it change; every other byte stays, numbers
    /// and unknown fields too. The texts of one result are measured together, images stay where they are. An array of
    /// results is bounded one by one. What is not recognised passes as it is, with a warning; what is not JSON
    /// passes as it is, with an error and exit code 2.
    #[command(after_help = "Examples:
  offcut result < tool-result.json
  offcut result --shape mcp --tool search < call-tool-result.json
  offcut result --profile unified < envelope.json
  offcut result --total 30k < parallel-results.json     an array of results that share 30,000 bytes")]
    Result(ToolResult),
    /// Print a part of a kept output
    ///
    /// Standard output is exactly the part asked for, if a page holds it; the command for what comes next is then on
    /// standard error. If the page is full before, its last line says so and is the command for the rest.
    /// `offcut cat` prints everything.
    #[command(after_help = "Examples:
  offcut read last
  offcut read 1m3k9q2z --lines 100:200
  offcut read last --lines -20:      the last 20 lines
  offcut read last-1 --around 4711   the output before the last one
  offcut read last --bytes 0:4000    also inside one giant line")]
    Read(Read),
    /// Print a kept output whole, byte for byte
    #[command(after_help = "Example:
  offcut cat last | grep -n error")]
    Cat(Reference),
    /// List what is kept, newest first
    #[command(after_help = "Examples:
  offcut ls
  offcut ls --limit 100 --format json
  offcut ls --tool bash --day 2026-11-15
  offcut ls --before 1m3k9q2zab7xk4pd      the page that follows this one")]
    Ls(Ls),
    /// Remove kept outputs
    #[command(after_help = "Example:
  offcut rm last 1m3k9q2zab7xk4pd")]
    Rm(Rm),
    /// List the profiles, or print one
    #[command(after_help = "Examples:
  offcut profiles
  mkdir -p ~/.config/offcut/profiles
  offcut profiles opencode > ~/.config/offcut/profiles/mine.toml
  offcut cut --profile mine < build.log")]
    Profiles(Profiles),
    /// Search kept outputs
    ///
    /// Every match is counted; what is printed fits a page and says how many it leaves out. Exit code 1 if nothing
    /// matches.
    #[command(after_help = "Examples:
  offcut grep 'error\\[E\\d+\\]'           in the last output
  offcut grep -i warning last-1 -C 3   with three lines around
  offcut grep FATAL all --count        in everything that is kept")]
    Grep(Grep),
    /// Show one kept output to a person: sizes, digest, path, age, and what was cut
    #[command(after_help = "Example:
  offcut show last")]
    Show(Reference),
    /// Keep outputs from being cleaned
    #[command(after_help = "Examples:
  offcut pin last
  offcut pin --remove 1m3k9q2zab7xk4pd")]
    Pin(Pinning),
    /// Remove old outputs
    ///
    /// Age is that of the output, whatever happened to its file. Pinned outputs and outputs that are being written
    /// stay; for want of space nothing younger than a day goes. Cleaning also happens by itself, once a day.
    #[command(after_help = "Examples:
  offcut clean --dry-run
  offcut clean --older-than 3d
  offcut clean --max-total 1GiB")]
    Clean(Clean),
    /// How much was cut and spared, by day and tool
    #[command(after_help = "Examples:
  offcut stats
  offcut stats --tokens --format json   with real token counts, which takes a while")]
    Stats(Stats),
    /// What is configured, and where it came from
    #[command(after_help = "Examples:
  offcut config show --origin
  offcut config check
  $EDITOR \"$(offcut config path | awk '/^user/ { print $2 }')\"")]
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Bound what the tools of an MCP server return, or read what was kept, from any MCP client
    #[command(subcommand)]
    Mcp(Mcp),
    /// Print completions for a shell
    #[command(after_help = "Example:
  mkdir -p ~/.local/share/bash-completion/completions
  offcut completions bash > ~/.local/share/bash-completion/completions/offcut")]
    Completions(Completions),
    /// Print the manual page
    #[command(after_help = "Example:
  offcut man | man -l -")]
    Man,
    /// Print a page of the documentation
    #[command(hide = true)]
    Docs(Documentation),
}

#[derive(Debug, Args)]
pub(crate) struct ToolResult {
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// The shape of the result; `auto` recognises it
    #[arg(long, value_name = "NAME", value_parser = shape(), default_value = "auto", help_heading = "Results")]
    pub(crate) shape: ShapeChoice,
    /// Pass results of this tool as they are; may be given several times
    #[arg(long, value_name = "NAME", help_heading = "Results")]
    pub(crate) skip_tool: Vec<String>,
    /// What all results of an array may have together; the largest are cut first, none to under 512 bytes
    #[arg(long, value_name = "BYTES", value_parser = parse_size, help_heading = "Results")]
    pub(crate) total: Option<u64>,
    /// Tell a person about each cut, on standard error; on a terminal that is always done
    #[arg(long, help_heading = "Results")]
    pub(crate) panel: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every value that holds
    Show {
        /// And where it came from
        #[arg(long)]
        origin: bool,
    },
    /// Print where the files are
    Path,
    /// Find mistakes; exit code 2 if there are any
    Check,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Documentation {
    /// The page
    pub(crate) page: Page,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Page {
    Cli,
    Config,
}

fn shape() -> impl clap::builder::TypedValueParser<Value = ShapeChoice> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let names = std::iter::once("auto").chain(Shape::ALL.map(Shape::name));
    PossibleValuesParser::new(names.collect::<Vec<_>>())
        .map(|name| Shape::named(&name).map_or(ShapeChoice::Auto, ShapeChoice::Is))
}

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// The profile to print
    pub(crate) name: Option<String>,
}
