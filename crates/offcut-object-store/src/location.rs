//! The bucket and prefix of a store.

use offcut::terminal::printable;
use std::fmt;

/// The bucket and the prefix together are the name of a directory, which has at most 255 bytes.
const MAX_PREFIX: usize = 180;

/// A bucket and a prefix in it: `s3://bucket/team/project`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    bucket: String,
    /// May be empty; has no slash at either end.
    prefix: String,
}

/// Why a text is not the location of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationError(String);

impl Location {
    /// Parses `s3://bucket/prefix`.
    ///
    /// A prefix has parts of letters, digits and `-_.=`, so clients, shells and policies read it in the same way, and no
    /// key can leave it.
    pub fn parse(uri: &str) -> Result<Location, LocationError> {
        let shown = printable(uri, 200);
        let wrong = |what: &str| Err(LocationError(format!("{shown:?} is not a store: {what}")));
        let Some(rest) = uri.strip_prefix("s3://") else {
            return wrong("write s3://bucket/prefix");
        };
        // Credentials in a location would end up in notices and shell histories.
        if rest.contains(['@', '?']) {
            let advice = "write s3://bucket/prefix; credentials come from the environment or ~/.aws";
            return Err(LocationError(format!("not a store: {advice}")));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        if bucket.len() < 3 || bucket.len() > 63 || !bucket.chars().all(is_plain) || bucket.starts_with('.') {
            return wrong("a bucket name has 3 to 63 letters, digits, dots and dashes");
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let is_part = |part: &str| {
            !matches!(part, "" | "." | "..") && part.chars().all(|char| is_plain(char) || char == '=')
        };
        if !prefix.is_empty() && (prefix.len() > MAX_PREFIX || !prefix.split('/').all(is_part)) {
            return wrong(
                "a prefix has parts of letters, digits and -_.= between single slashes, at most 180 bytes in all",
            );
        }
        Ok(Location { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    /// The name of the bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The name of the spool directory for this location: one path component, different for each location.
    pub fn folder(&self) -> String {
        self.to_string().replacen("s3://", "s3+", 1).replace('/', "+")
    }

    /// What every key starts with: nothing, or the prefix and a slash.
    pub(crate) fn root(&self) -> String {
        if self.prefix.is_empty() { String::new() } else { format!("{}/", self.prefix) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "s3://{}", self.bucket)?;
        if self.prefix.is_empty() { Ok(()) } else { write!(formatter, "/{}", self.prefix) }
    }
}

impl fmt::Display for LocationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for LocationError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a text and compares the location, or a part of the error.
    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        match (Location::parse(text), expected) {
            (Ok(location), Ok(again)) => assert_eq!(location.to_string(), again),
            (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{error}"),
            (found, expected) => panic!("{text:?}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn parses_locations_and_explains_errors() {
        check("s3://bucket", Ok("s3://bucket"));
        check("s3://bucket/", Ok("s3://bucket"));
        check("s3://my.bucket-1/team=a/x_y/", Ok("s3://my.bucket-1/team=a/x_y"));
        check("gs://bucket", Err("s3://bucket/prefix"));
        check("s3://", Err("bucket name"));
        check("s3://ab", Err("bucket name"));
        check("s3://buck et/x", Err("bucket name"));
        check("s3://../x", Err("bucket name"));
        check("s3://key:secret@bucket/x", Err("environment"));
        check("s3://bucket/x?versionId=1", Err("environment"));
        check("s3://bucket/../other", Err("prefix has parts"));
        check("s3://bucket/a//b", Err("prefix has parts"));
        check("s3://bucket/./b", Err("prefix has parts"));
        check("s3://bucket/a b", Err("prefix has parts"));
        check("s3://bucket/a\n", Err("prefix has parts"));
    }

    #[test]
    fn each_location_has_its_own_folder() {
        let folder = |text: &str| Location::parse(text).unwrap().folder();
        assert_eq!(folder("s3://bucket/a/b"), "s3+bucket+a+b");
        assert_ne!(folder("s3://bucket/a/b"), folder("s3://bucket/a_b"));
    }
}
