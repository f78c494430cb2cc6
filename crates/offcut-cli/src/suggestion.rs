//! What somebody meant who mistyped a key of the configuration or a profile, or left out `run`. For commands, options and
//! values of options, clap suggests the nearest valid one.

use crate::install;
use std::path::Path;

/// A longer name is not compared with the valid ones.
const MAX_CHARS: usize = 100;

/// The similarity from which on a name is suggested, from 0 to 1.
const SIMILAR: f64 = 0.5;

/// The most similar of the valid names, if one is similar enough.
pub(crate) fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let name = name.to_lowercase();
    valid
        .into_iter()
        .map(|valid| (strsim::normalized_damerau_levenshtein(&valid.to_lowercase(), &name), valid))
        .filter(|&(similarity, _)| similarity >= SIMILAR)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, valid)| valid)
}

/// This command line with `run` before a program that was given in place of a command: `offcut run make -j8`.
pub(crate) fn with_run(program: &str) -> Option<String> {
    let exists = match program.contains('/') {
        true => install::is_executable(Path::new(program)),
        false => install::is_on_path(program),
    };
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect::<Option<_>>()?;
    let (options, command) =
        words.split_at(words.iter().position(|word| word == program).filter(|_| exists)?);
    let words = ["offcut"].into_iter().chain(options.iter().map(String::as_str)).chain(["run"]);
    shlex::try_join(words.chain(command.iter().map(String::as_str))).ok()
}
