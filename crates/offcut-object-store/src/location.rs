//! Which bucket, and where in it.

use std::fmt;

/// With a bucket's name before it, it is the name of a folder, and those have 255 bytes at the most.
const LONGEST_PREFIX: usize = 180;

/// A bucket and a prefix in it: `s3://bucket/team/project`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    bucket: String,
    /// Without slashes at its ends; may be empty.
    prefix: String,
}

/// A text that names no place in an object store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationError(String);

impl Location {
    /// Reads `s3://bucket/prefix`.
    ///
    /// A prefix has parts of letters, digits and `-_.=`: nothing that a client, a shell or a policy would read
    /// differently, and nothing that leads out of it.
    pub fn parse(uri: &str) -> Result<Location, LocationError> {
        let shown: String = uri.chars().filter(|char| !char.is_control()).take(200).collect();
        let wrong = |what: &str| Err(LocationError(format!("{shown:?} is not a store: {what}")));
        let Some(rest) = uri.strip_prefix("s3://") else {
            return wrong("write s3://bucket/prefix");
        };
        // Credentials in a name would end up in notices and histories.
        if rest.contains(['@', '?']) {
            let advice = "write s3://bucket/prefix; keys come from the environment or from ~/.aws";
            return Err(LocationError(format!("this is not a store: {advice}")));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        if bucket.len() < 3 || bucket.len() > 63 || !bucket.chars().all(is_plain) || bucket.starts_with('.') {
            return wrong("the bucket's name has 3 to 63 letters, digits, dots and dashes");
        }
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let is_part = |part: &str| {
            !matches!(part, "" | "." | "..") && part.chars().all(|char| is_plain(char) || char == '=')
        };
        if !prefix.is_empty() && (prefix.len() > LONGEST_PREFIX || !prefix.split('/').all(is_part)) {
            return wrong(
                "a prefix has parts of letters, digits and -_.= between single slashes, 180 bytes in all",
            );
        }
        Ok(Location { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    /// The bucket.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// The name of the folder for what waits to be uploaded to this place: one component, different for each place.
    pub fn folder(&self) -> String {
        self.to_string().replacen("s3://", "s3+", 1).replace('/', "+")
    }

    /// What every key begins with: nothing, or the prefix and a slash.
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

    /// One door: a text, and what it says again, or a word of the complaint.
    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        match (Location::parse(text), expected) {
            (Ok(location), Ok(again)) => assert_eq!(location.to_string(), again),
            (Err(error), Err(word)) => assert!(error.to_string().contains(word), "{error}"),
            (found, expected) => panic!("{text:?}: {found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn places() {
        check("s3://bucket", Ok("s3://bucket"));
        check("s3://bucket/", Ok("s3://bucket"));
        check("s3://my.bucket-1/team=a/x_y/", Ok("s3://my.bucket-1/team=a/x_y"));
        check("gs://bucket", Err("s3://bucket/prefix"));
        check("s3://", Err("bucket's name"));
        check("s3://ab", Err("bucket's name"));
        check("s3://buck et/x", Err("bucket's name"));
        check("s3://../x", Err("bucket's name"));
        check("s3://key:secret@bucket/x", Err("environment"));
        check("s3://bucket/x?versionId=1", Err("environment"));
        check("s3://bucket/../other", Err("prefix has parts"));
        check("s3://bucket/a//b", Err("prefix has parts"));
        check("s3://bucket/./b", Err("prefix has parts"));
        check("s3://bucket/a b", Err("prefix has parts"));
        check("s3://bucket/a\n", Err("prefix has parts"));
    }

    #[test]
    fn folders_differ() {
        let folder = |text: &str| Location::parse(text).unwrap().folder();
        assert_eq!(folder("s3://bucket/a/b"), "s3+bucket+a+b");
        assert_ne!(folder("s3://bucket/a/b"), folder("s3://bucket/a_b"));
    }
}
