//! Which valid name somebody meant who mistyped one: a key of the configuration or a profile. For commands, options and
//! values of options, clap does the same.

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
