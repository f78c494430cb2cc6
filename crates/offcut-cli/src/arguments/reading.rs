//! What is asked of a kept output.

use clap::Args;
use offcut::limits::parse_size;

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
    #[arg(long, value_name = "N", group = "part", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) around: Option<u64>,
    /// With --around: how many lines before and after
    #[arg(short = 'C', long, value_name = "N", default_value_t = 20, requires = "around")]
    pub(crate) context: u64,
    /// The most bytes a page may have, its last line included (512 or more)
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_bytes: Option<u64>,
    /// The most lines a page may have
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_lines: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Grep {
    /// A regular expression
    pub(crate) pattern: String,
    /// Ids, beginnings of ids, `last`, `last-1`, paths, or `all`; the last output if none is given
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Upper and lower case are the same
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Lines before and after each match
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    pub(crate) context: usize,
    /// Print at most this many matches of each output
    #[arg(short, long, value_name = "N")]
    pub(crate) max_count: Option<u64>,
    /// Print only how many lines match
    #[arg(short, long)]
    pub(crate) count: bool,
}
