//! Arguments of the commands that read and search stored outputs.

use clap::Args;
use offcut::limits::parse_size;

#[derive(Debug, Args)]
pub(crate) struct Reference {
    /// An id, a unique id prefix, `last`, `last-1`, or the path of a stored file
    #[arg(value_name = "ID", default_value = "last")]
    pub(crate) id: String,
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
pub(crate) struct Grep {
    /// A regular expression
    pub(crate) pattern: String,
    /// Ids, unique id prefixes, `last`, `last-1`, paths, or `all` [default: last]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Ignore case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Print this many lines before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    pub(crate) context: usize,
    /// Print at most this many matches of each output
    #[arg(short, long, value_name = "N")]
    pub(crate) max_count: Option<u64>,
    /// Print only the number of matching lines
    #[arg(short, long)]
    pub(crate) count: bool,
}
