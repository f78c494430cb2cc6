//! Arguments of the commands that read and search stored outputs.

use clap::{Args, ColorChoice};
use offcut::limits::parse_size;

#[derive(Debug, Args)]
pub(crate) struct Reference {
    /// An id, a unique id prefix, `last`, `last-1`, or the path of a stored file
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) reference: Reference,
    /// Print the preview as it was shown, byte for byte
    #[arg(long, group = "view")]
    pub(crate) preview: bool,
    /// Print the output with what was not shown dimmed; without colour, `-` is before lines that were not shown and `~`
    /// before lines that were shown in part
    #[arg(long, group = "view")]
    pub(crate) diff: bool,
    /// List everything that was not shown
    #[arg(long, group = "view")]
    pub(crate) gaps: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Cat {
    /// Ids, unique id prefixes, `last`, `last-1`, or paths of stored files
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    pub(crate) reference: Reference,
    /// Print lines FIRST:LAST, counted from 1, both included; also 100:, :200, 100:+50, -20:, 100-200 and 100,200
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, group = "part")]
    pub(crate) lines: Option<String>,
    /// Print bytes START:END, counted from 0, END not included; also 100:, :200, 100:+50, -20:, 100-200 and 100,200
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, group = "part")]
    pub(crate) bytes: Option<String>,
    /// Print the lines around line N
    #[arg(long, value_name = "N", group = "part", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) around: Option<u64>,
    /// With --around: print this many lines before and after line N
    #[arg(short = 'C', long, value_name = "N", default_value_t = 20, requires = "around")]
    pub(crate) context: u64,
    /// Print at most this many bytes, notice included (at least 512)
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_bytes: Option<u64>,
    /// Print at most this many lines, notice included
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_lines: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Fsck {
    /// Ids, unique id prefixes, `last` or `last-1` [default: all outputs]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("listing").args(["count", "with_matches", "without_match"]))]
pub(crate) struct Grep {
    /// A regular expression; with -e, the first id
    #[arg(value_name = "PATTERN", required_unless_present = "regexp")]
    pattern: Option<String>,
    /// Ids, unique id prefixes, `last`, `last-1`, paths, or `all` [default: last]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Search for this pattern; can be given more than once
    #[arg(short = 'e', long, value_name = "PATTERN", allow_hyphen_values = true)]
    regexp: Vec<String>,
    /// Search for text instead of a regular expression
    #[arg(short = 'F', long)]
    pub(crate) fixed_strings: bool,
    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Match only whole words
    #[arg(short, long)]
    pub(crate) word_regexp: bool,
    /// Print the lines that do not match
    #[arg(short = 'v', long)]
    pub(crate) invert_match: bool,
    /// Print only the matching parts of lines
    #[arg(short, long)]
    pub(crate) only_matching: bool,
    /// Print line numbers, which is the default
    #[arg(short = 'n', long)]
    line_number: bool,
    /// Print this many lines after each match
    #[arg(short = 'A', long, value_name = "N")]
    pub(crate) after_context: Option<usize>,
    /// Print this many lines before each match
    #[arg(short = 'B', long, value_name = "N")]
    pub(crate) before_context: Option<usize>,
    /// Print this many lines before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    pub(crate) context: usize,
    /// Print at most this many matches of each output
    #[arg(short, long, value_name = "N")]
    pub(crate) max_count: Option<u64>,
    /// Print only the number of matching lines, of each output if there are several
    #[arg(short, long)]
    pub(crate) count: bool,
    /// Print only the ids of outputs with a match
    #[arg(short = 'l', long = "files-with-matches")]
    pub(crate) with_matches: bool,
    /// Print only the ids of outputs without a match
    #[arg(short = 'L', long = "files-without-match")]
    pub(crate) without_match: bool,
    /// Colour matches, ids and line numbers; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, alias = "colour", value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
}

impl Grep {
    /// The patterns, and what names the outputs. With `-e`, the first argument is not a pattern.
    pub(crate) fn patterns_and_references(&self) -> (Vec<String>, Vec<String>) {
        let (first, ids) = (self.pattern.iter().cloned(), self.ids.iter().cloned());
        let (patterns, mut references) = match self.regexp.is_empty() {
            true => (first.collect(), ids.collect()),
            false => (self.regexp.clone(), first.chain(ids).collect::<Vec<_>>()),
        };
        if references.is_empty() {
            references.push("last".to_owned());
        }
        (patterns, references)
    }
}
