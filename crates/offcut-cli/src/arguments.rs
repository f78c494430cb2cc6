//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use offcut::limits::parse_size;
use offcut::strategy::StrategyName;
use offcut::{Limits, Rule, TaskTool};

/// A tool prints too much. offcut shows what fits, keeps every byte, and gets any part back.
#[derive(Debug, Parser)]
#[command(name = "offcut", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) everywhere: Everywhere,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "Examples:
  cargo test 2>&1 | offcut cut       a preview that fits, the rest kept
  offcut read last --lines 100:200   any part of it back
  offcut ls                          what is kept";

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Everywhere {
    /// Where whole outputs are kept: a directory, or `none`
    #[arg(long, global = true, value_name = "DIR|none", env = "OFFCUT_STORE")]
    pub(crate) store: Option<String>,
    /// How to print: for people and models, or as JSON for programs
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// The profile: limits, strategy and wording (see `offcut profiles`)
    #[arg(long, global = true, value_name = "NAME", default_value = "native", env = "OFFCUT_PROFILE")]
    pub(crate) profile: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
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
    #[command(after_help = "Examples:
  make 2>&1 | offcut cut
  git log | offcut cut --strategy head --max-bytes 4KiB
  offcut cut --format json --tool bash < build.log")]
    Cut(Cut),
    /// Print a part of a kept output
    ///
    /// A page is bounded; when it is full, its last line is the command for the next one. `offcut cat` prints all.
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
  offcut ls --limit 100 --format json")]
    Ls(Ls),
    /// Remove kept outputs
    #[command(after_help = "Example:
  offcut rm last 1m3k9q2zab7xk4pd")]
    Rm(Rm),
    /// List the profiles, or print one
    #[command(after_help = "Examples:
  offcut profiles
  offcut profiles opencode > my-profile.toml")]
    Profiles(Profiles),
}

/// What a call may say about its output.
#[derive(Debug, Args)]
pub(crate) struct Cut {
    /// The tool that printed the text
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The id of the call
    #[arg(long, value_name = "ID")]
    pub(crate) call_id: Option<String>,
    /// The session of the call
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// What is shown of a text over the limits
    #[arg(long, value_name = "NAME", value_parser = strategy())]
    pub(crate) strategy: Option<StrategyName>,
    /// The reader has a tool that starts a sub-agent
    #[arg(long, overrides_with = "no_task")]
    pub(crate) task: bool,
    /// The reader has no such tool
    #[arg(long)]
    pub(crate) no_task: bool,
    /// Show at most this many lines
    #[arg(long, value_name = "N", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) max_lines: Option<u64>,
    /// Show at most this many bytes: 9500, 50KiB, 8k
    #[arg(long, value_name = "N", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) max_bytes: Option<u64>,
    /// Show at most this many characters
    #[arg(long, value_name = "N", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) max_chars: Option<u64>,
    /// Show at most this many tokens (estimated)
    #[arg(long, value_name = "N", value_parser = parse_size, allow_hyphen_values = true)]
    pub(crate) max_tokens: Option<u64>,
}

impl Cut {
    pub(crate) fn rule(&self) -> Rule {
        Rule {
            limits: Limits {
                lines: self.max_lines,
                bytes: self.max_bytes,
                chars: self.max_chars,
                tokens: self.max_tokens,
            },
            strategy: self.strategy,
            task: match (self.task, self.no_task) {
                (true, _) => Some(TaskTool::Available),
                (_, true) => Some(TaskTool::Absent),
                _ => None,
            },
            ..Rule::default()
        }
    }
}

fn strategy() -> impl clap::builder::TypedValueParser<Value = StrategyName> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(StrategyName::ALL.map(StrategyName::as_str)).map(|name| {
        StrategyName::ALL.into_iter().find(|known| known.as_str() == name).unwrap_or(StrategyName::Auto)
    })
}

#[derive(Debug, Args)]
pub(crate) struct Reference {
    /// An id, the beginning of one, `last`, `last-1`, or the path of a kept file
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) reference: Reference,
    /// Lines FIRST:LAST, counted from 1, both included; also 100:, :200, -20:
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, group = "part")]
    pub(crate) lines: Option<String>,
    /// Bytes START:END, counted from 0, END not included
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, group = "part")]
    pub(crate) bytes: Option<String>,
    /// The lines around line N
    #[arg(long, value_name = "N", group = "part")]
    pub(crate) around: Option<u64>,
    /// With --around: how many lines before and after
    #[arg(short = 'C', long, value_name = "N", default_value_t = 20, requires = "around")]
    pub(crate) context: u64,
    /// The most bytes a page may have
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_bytes: Option<u64>,
    /// The most lines a page may have
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_lines: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// How many to list
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// List all
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Ids, unique beginnings of ids, `last`, `last-1`, or paths of kept files
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// The profile to print
    pub(crate) name: Option<String>,
}
