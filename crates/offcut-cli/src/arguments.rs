//! The definition of the command line and of its help.

mod agents;
mod cut;
mod mcp;
mod retention;
mod retrieval;

pub(crate) use crate::command::Ls;
pub(crate) use agents::{Hook, Init, Shell};
pub(crate) use cut::{Cut, CutInput, Run, foreign};
pub(crate) use mcp::{Mcp, Proxy, Serve};
pub(crate) use retention::{Clean, Pinning, Rm, Stats, Unpinning, parse_age};
pub(crate) use retrieval::{Cat, Fsck, Grep, Read, Show};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use offcut::limits::parse_size;
use offcut::results::{Shape, ShapeChoice};
use std::path::PathBuf;

/// Shorten long tool output to a preview, store the full text, and read any part of it back
#[derive(Debug, Parser)]
#[command(name = "offcut", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands as the help lists them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Run", &["run", "cut"]),
    ("Read back", &["ls", "show", "read", "cat", "grep"]),
    ("Manage", &["stats", "rm", "pin", "unpin", "clean", "fsck", "config", "profiles", "rules"]),
    ("Agents", &["init", "doctor", "shell", "hook"]),
    ("Programs", &["result", "mcp", "completions", "man"]),
];

impl Arguments {
    /// The definition of the command line. Its help lists the commands in groups, which clap cannot do by itself.
    pub(crate) fn definition() -> clap::Command {
        let command = Arguments::command();
        let about = |name: &&str| {
            let command = command.find_subcommand(name);
            let about = command.and_then(clap::Command::get_about).map(ToString::to_string);
            format!("  {name:<12} {}\n", about.unwrap_or_default())
        };
        let group = |(title, names): &(&str, &[&str])| {
            format!("{title}:\n{}\n", names.iter().map(about).collect::<String>())
        };
        let groups: String = GROUPS.iter().map(group).collect();
        let template = format!(
            "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}Global options:\n{{options}}{{after-help}}\n"
        );
        command.help_template(template)
    }

    /// Parses the command line.
    pub(crate) fn try_parse_all() -> Result<Arguments, clap::Error> {
        let mut matches = Arguments::definition().try_get_matches()?;
        Arguments::from_arg_matches_mut(&mut matches)
            .map_err(|error| error.format(&mut Arguments::definition()))
    }

    /// Parses the commands that run for every tool call, without building the definitions of all others.
    ///
    /// Returns `None` for other commands and for errors, which only the full definition can explain.
    pub(crate) fn parse_frequent_commands() -> Option<Arguments> {
        match std::env::args_os().nth(1)?.to_str()? {
            "cut" => parse_only("cut", Command::Cut),
            "run" => parse_only("run", Command::Run),
            "result" => parse_only("result", Command::Result),
            "shell" => parse_only("shell", Command::Shell),
            "hook" => parse_only("hook", Command::Hook),
            _ => None,
        }
    }
}

fn parse_only<T: Args>(name: &'static str, command: fn(T) -> Command) -> Option<Arguments> {
    let definition = GlobalOptions::augment_args(clap::Command::new("offcut"))
        .disable_help_subcommand(true)
        .subcommand(T::augment_args(clap::Command::new(name)));
    let matches = definition.try_get_matches().ok()?;
    let global = GlobalOptions::from_arg_matches(&matches).ok()?;
    let command = command(T::from_arg_matches(matches.subcommand()?.1).ok()?);
    Some(Arguments { global, command })
}

const EXAMPLES: &str = "Examples:
  offcut run cargo test              Run a command and print a preview of its output
  cargo test 2>&1 | offcut cut       Shorten the output of a pipeline
  offcut read --lines 100:200        Print part of the full output
  offcut ls                          List stored outputs

Environment:
  OFFCUT_PASS=1   Pass the output of this call on unchanged; store nothing
  OFFCUT_...      Settings, such as OFFCUT_MAX_BYTES: see `offcut config show --origin`";

/// Options that every command accepts.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalOptions {
    /// Store full outputs here: a directory, an S3 bucket shared by several machines, or `none`
    #[arg(long, global = true, value_name = "DIR|s3://BUCKET/PREFIX|none")]
    pub(crate) store: Option<String>,
    /// Print text for people and models, or JSON for programs
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Use this profile: limits, strategy and notice texts (see `offcut profiles`)
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
    /// Shorten standard input or files, and store the full text
    ///
    /// Text within the limits passes through unchanged, byte for byte. Longer text is saved to the store, and a
    /// preview within the limits is printed instead. The preview says which lines are not shown and which command
    /// prints them. If the store fails, the preview is still printed, and its notice gives the reason.
    ///
    /// The default limits are 1900 lines and 9500 bytes, whichever is reached first. The smallest limits allowed are
    /// 4 lines, 256 bytes, 256 characters and 128 tokens.
    ///
    /// Strategies: `head` shows the beginning, `tail` the end, `head-tail` both, `smart` the most relevant lines,
    /// `json` a shorter document that is still valid JSON, `auto` chooses one of them by content.
    ///
    /// If an option is invalid and standard input is a pipe, the input is stored, and the error says how to read it. The same
    /// applies if the command is missing or unknown.
    ///
    /// Several files are printed one after another, each after a line `==> FILE <==`. A file that cannot be read is an error
    /// with exit status 2; the others are still printed.
    #[command(after_help = "Examples:
  make 2>&1 | offcut cut
  offcut cut build.log test.log
  git log | offcut cut --strategy head --max-bytes 4KiB
  offcut cut --format json --tool bash < build.log")]
    Cut(CutInput),
    /// Run a command and shorten its output
    ///
    /// Arguments, stdin and the exit status pass through unchanged. Standard output and standard error are merged in
    /// the order they were written and printed byte for byte if within the limits, otherwise as a preview, with the full
    /// output in the store. After a second the output is printed as it comes, up to two fifths of the limit; then lines that
    /// matter and notices about the progress, and the rest when the command ends. With --split, --format json or another
    /// profile, everything is printed when it ends. Background processes keep running; what they print later is added to
    /// the same entry.
    ///
    /// The exit status is that of the command, or one of: 124 timed out, 125 invalid usage of offcut, 126 command not
    /// executable, 127 command not found.
    #[command(after_help = "Examples:
  offcut run cargo test --workspace
  offcut run --timeout 5m make -j8
  offcut run --shell 'npm run build | tee build.log'
  offcut run --split ./program         Shorten standard output and standard error separately
  offcut run -- -program               Run a command whose name begins with a hyphen")]
    Run(Run),
    /// Run a command line as an agent's shell, and shorten its output
    ///
    /// Your shell is $OFFCUT_SHELL, `shell` in the configuration, $SHELL, or /bin/sh, in that order. It gets all
    /// arguments unchanged. The output of a command line (`-c`) is shortened as by `offcut run`. Scripts, sessions on a
    /// terminal, and shells started by such a command line run without offcut.
    ///
    /// A link to this program named `offcut-sh` runs this command; links named `offcut-bash` or `offcut-zsh` run that
    /// shell. `offcut init` installs a script of that name in your agent; without offcut, the script runs the shell itself.
    #[command(after_help = "Examples:
  offcut shell -c 'cargo test 2>&1 | tee log; exit 3'
  CLAUDE_CODE_SHELL=~/.config/offcut/agents/offcut-bash claude")]
    Shell(Shell),
    /// Answer an agent's hook: read one JSON object, print one
    ///
    /// `offcut init` adds this command to the agent's settings. Results within the limits, and input in an unexpected
    /// format, are left unchanged. The exit status is always 0, so that a hook never blocks a tool; errors are logged,
    /// and `offcut doctor` prints them.
    #[command(after_help = "Example:
  offcut hook claude after < payload.json")]
    Hook(Hook),
    /// Install offcut in your agents, or remove it
    ///
    /// Prints each change to the agent's settings as a diff, then makes it. Comments, order and all other settings
    /// are preserved. The original file is backed up, and `--uninstall` restores it. Running the command again
    /// changes nothing.
    ///
    /// Without an agent, goes through the installed agents and asks before each change.
    #[command(after_help = "Examples:
  offcut init --all
  offcut init claude --dry-run
  offcut init opencode --project
  offcut init codex --uninstall")]
    Init(Init),
    /// Check the installation and suggest fixes
    ///
    /// Checks the program, the configuration, the store and each agent, and runs each agent's shell and hook with a
    /// long output. The exit status is 1 if a check fails.
    #[command(after_help = "Example:
  offcut doctor")]
    Doctor,
    /// Shorten the text in a tool result: JSON in, JSON out
    ///
    /// Only text over the limits changes, and the fields that describe it. All other bytes stay the same, including
    /// numbers and unknown fields. The text parts of one result count together; images are kept. In an array of
    /// results, each is shortened separately.
    ///
    /// JSON that is not a known tool result passes through unchanged, with a warning. Input that is not JSON passes
    /// through unchanged, with an error and exit status 2.
    #[command(after_help = "Examples:
  offcut result < tool-result.json
  offcut result --shape mcp --tool search < call-tool-result.json
  offcut result --profile unified < envelope.json
  offcut result --total 30k < parallel-results.json     Limit all results of an array to 30,000 bytes together")]
    Result(ToolResult),
    /// Print part of a stored output
    ///
    /// Prints one page. If the requested part fits, standard output contains exactly that part, and standard error
    /// the command for the next part. If it does not fit, the last line of the page is a notice with the command for
    /// the rest. `offcut cat` prints the full output. The exit status is 4 if the part was modified after it was stored.
    #[command(after_help = "Examples:
  offcut read                        Print the first page of the last output
  offcut read 1m3k9q2z --lines 100:200
  offcut read --lines 100:+50        Print line 100 and the 50 lines after it
  offcut read --lines -20:           Print the last 20 lines
  offcut read last-1 --around 4711   Print lines around line 4711 of the output before the last one
  offcut read last --bytes 0:4000    Print bytes, for example of a very long line")]
    Read(Read),
    /// Print full stored outputs, byte for byte
    ///
    /// The exit status is 4 if an output was modified after it was stored.
    #[command(after_help = "Examples:
  offcut cat | grep -n error
  offcut cat last-1 last")]
    Cat(Cat),
    /// List stored outputs, newest first
    ///
    /// On a terminal: the shortest id that names the output, its age, how its command ended, its size, the agent and the
    /// command line, cut to the width. STATE appears if an output is running, incomplete or pinned. Elsewhere: full ids,
    /// local times, sizes in bytes and whole command lines, in columns that are separated by at least two spaces.
    #[command(after_help = "Examples:
  offcut ls
  offcut ls --failed --here --since 1d     List what failed in this project since yesterday
  offcut ls --grep 'cargo (test|build)'
  offcut ls --limit 100 --format json
  offcut ls --tool bash --day yesterday
  offcut ls --before 1m3k9q2zab7xk4pd      List the page after this output")]
    Ls(Ls),
    /// Delete stored outputs
    ///
    /// With ids, deletes these outputs. If one of them is pinned or still being written, asks on a terminal; elsewhere nothing
    /// is deleted without --force. With filters, lists what they choose and asks; without a terminal, nothing is deleted
    /// without --yes. Outputs that filters choose stay if they are pinned or still being written, unless you confirm them or
    /// give --force.
    ///
    /// With --format json, prints one object instead: `removed`, `removed_bytes`, `ids`, and `kept`, which are the chosen
    /// ids that stay. Nothing is asked.
    #[command(after_help = "Examples:
  offcut rm last 1m3k9q2zab7xk4pd
  offcut rm --session 7a97fa37
  offcut rm --here --since 1d --yes    Delete the last day of this directory")]
    Rm(Rm),
    /// List the profiles, or print one
    #[command(after_help = "Examples:
  offcut profiles
  mkdir -p ~/.config/offcut/profiles
  offcut profiles opencode > ~/.config/offcut/profiles/mine.toml
  offcut cut --profile mine < build.log")]
    Profiles(Profiles),
    /// List the tools that `smart` recognises, or print the rules of one
    ///
    /// A rule is a pattern and a role: what a line that matches is, such as `failed`, `exception` or `summary`. The
    /// strategy `smart` shows lines by their roles. The first rule that matches decides, by tier: `harmless`, `tool`,
    /// `format`, `phrase`, `word`.
    ///
    /// If the preview of a tool lacks its errors, `offcut rules test` shows which lines have no role, or a wrong one. Its
    /// output is the transcript that a new tool needs besides its rules: correct the roles, and write the rules until the
    /// tests pass. ARCHITECTURE.md has a section "Add a tool".
    #[command(after_help = "Examples:
  offcut rules
  offcut rules pytest
  offcut rules test build.log
  mytool 2>&1 | offcut rules test -
  offcut rules test build.log > crates/offcut/rules/mytool.txt")]
    Rules(Rules),
    /// Search stored outputs
    ///
    /// Prints the first matches that fit on a page, and the total number of matches: there is no next page, narrow the
    /// pattern instead. The options have the meaning that they have in ripgrep. `$` also matches before a carriage return at
    /// the end of a line. A pattern that is not a regular expression is searched as text. Standard error names outputs that
    /// could not be searched as a whole. The exit status is 1 if nothing matches, and 4 if an output cannot be read or was
    /// modified after it was stored.
    #[command(after_help = "Examples:
  offcut grep 'error\\[E\\d+\\]'           Search the last output
  offcut grep -i warning last-1 -C 3   Print three lines before and after each match
  offcut grep -F 'f(x)' -A 5           Search for text, and print five lines after each match
  offcut grep -c FATAL all             Count matching lines in each stored output
  offcut grep -l FATAL all             List the outputs with a match")]
    Grep(Grep),
    /// Print details of a stored output, or what the model saw of it
    ///
    /// The exit status is 4 if the output was modified after it was stored. Files of more than 64 MiB are not checked.
    ///
    /// On a terminal, --diff opens $PAGER, or `less -R`. With --format json, the report has the preview and all gaps.
    #[command(after_help = "Examples:
  offcut show last-1
  offcut show --preview     Print what the model saw of the last output
  offcut show --diff        Print the output, with what the model did not see dimmed")]
    Show(Show),
    /// Protect stored outputs from automatic removal
    ///
    /// With --format json, prints one object: `pinned`, which is true, and `ids`.
    #[command(after_help = "Examples:
  offcut pin last
  offcut pin 1m3k9q2zab7xk4pd last-1")]
    Pin(Pinning),
    /// Allow the automatic removal of pinned outputs again
    ///
    /// With --format json, prints one object: `pinned`, which is false, and `ids`.
    #[command(after_help = "Example:
  offcut unpin 1m3k9q2zab7xk4pd")]
    Unpin(Unpinning),
    /// Remove old outputs
    ///
    /// Each output is kept as long as its profile, or `retention.days`, said when it was stored; --older-than overrides
    /// this. The age counts from when it was stored; changes to its file do not matter. Pinned outputs and outputs that
    /// are still being written are kept. Size limits never remove outputs younger than one day. Once a day, offcut runs
    /// this command by itself in the background.
    #[command(after_help = "Examples:
  offcut clean --dry-run
  offcut clean --older-than 3d
  offcut clean --max-total 1GiB
  offcut clean --profile opencode --store ~/.local/share/opencode/tool-output --adopt --dry-run")]
    Clean(Clean),
    /// Check the stored outputs for damage, and for files of no output
    ///
    /// Reads every byte, changes nothing, and prints for each problem the command that removes it. The exit status is 0 if
    /// all is well, and 1 if there are problems.
    #[command(after_help = "Examples:
  offcut fsck
  offcut fsck last 1m3k9q2zab7xk4pd     Check only these outputs
  offcut fsck --format json")]
    Fsck(Fsck),
    /// Print how much was cut, shown, read later and saved
    ///
    /// What was saved is compared with two things: the whole outputs, and what the agents would have shown of them without
    /// offcut (see "Limits" in docs/agents.md). What agents read later is subtracted; what you read yourself does not
    /// count. The figures come from a ledger on this machine, which outlives the stored outputs, and from the outputs in the
    /// store.
    #[command(after_help = "Examples:
  offcut stats
  offcut stats --since 30d --by agent
  offcut stats --since 2026-11-15 --by day
  offcut stats --tokens --format json   Count tokens exactly, which is slower")]
    Stats(Stats),
    /// Print, check and change the configuration
    #[command(after_help = "Examples:
  offcut config show --origin
  offcut config check
  offcut config set limits.bytes 16KiB
  offcut config unset tools.grep.strategy
  offcut config edit")]
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Shorten the results of an MCP server, or serve stored outputs
    #[command(subcommand)]
    Mcp(Mcp),
    /// Print shell completions
    ///
    /// In bash, zsh and fish they offer the stored outputs, sessions, profiles and settings that exist; after `offcut run`,
    /// what the shell completes for that command. Outputs in a bucket are not offered: a key press sends no requests.
    #[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  offcut completions bash > ~/.local/share/bash-completion/completions/offcut
  offcut completions zsh > ~/.zfunc/_offcut     With fpath=(~/.zfunc $fpath) before compinit
  offcut completions fish > ~/.config/fish/completions/offcut.fish")]
    Completions(Completions),
    /// Print the manual pages
    #[command(after_help = "Examples:
  offcut man run | man -l -
  offcut man --directory ~/.local/share/man/man1    Then: man offcut-run")]
    Man(Manual),
    /// Print a generated documentation page
    #[command(hide = true)]
    Docs(Documentation),
}

#[derive(Debug, Args)]
pub(crate) struct ToolResult {
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// The shape of the result; `auto` detects it
    #[arg(long, value_name = "NAME", value_parser = shape(), default_value = "auto", help_heading = "Results")]
    pub(crate) shape: ShapeChoice,
    /// Leave results of this tool unchanged; can be given more than once
    #[arg(long, value_name = "NAME", help_heading = "Results")]
    pub(crate) skip_tool: Vec<String>,
    /// Limit all results of an array together; the largest are shortened first, none below 512 bytes
    #[arg(long, value_name = "BYTES", value_parser = parse_size, help_heading = "Results")]
    pub(crate) total: Option<u64>,
    /// Print a summary of each shortened result on standard error; on by default on a terminal
    #[arg(long, help_heading = "Results")]
    pub(crate) panel: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the effective settings
    Show {
        /// Also print where each value was set
        #[arg(long)]
        origin: bool,
    },
    /// Print the paths of the configuration files
    Path,
    /// Check the configuration files and variables; the exit status is 2 if there are errors
    ///
    /// With --format json, also prints one object: `problems`, an array of texts.
    Check,
    /// Open your configuration file in $VISUAL or $EDITOR, and check it afterwards
    ///
    /// If the file does not exist, it is created with every key and its default as a comment.
    Edit,
    /// Set a key in your configuration file
    Set {
        /// The key, for example `limits.lines` or `tools.bash.strategy`
        key: String,
        /// The value, for example `2000`, `50KiB`, `head` or `false`
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// Change the project file instead
        #[arg(long)]
        project: bool,
    },
    /// Remove a key from your configuration file
    Unset {
        /// The key
        key: String,
        /// Change the project file instead
        #[arg(long)]
        project: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// Print the page of this command only
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Write each page into a file in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell to generate completions for
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Documentation {
    /// The page to print
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
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Rules {
    /// The tool whose rules to print
    pub(crate) name: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<RulesCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Print a log with the role of each line before it
    Test {
        /// The log; `-` is standard input
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Profiles {
    /// The profile to print
    pub(crate) name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command_once_and_fits_80_columns() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let definition = Arguments::definition();
        let commands = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let mut commands: Vec<&str> = commands.map(clap::Command::get_name).collect();
        listed.sort_unstable();
        commands.sort_unstable();
        assert_eq!(listed, commands);
        let help = Arguments::definition().term_width(80).render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        assert!(help.contains("Read back:\n  ls           List stored outputs"), "{help}");
    }
}
