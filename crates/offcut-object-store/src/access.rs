//! Credentials, region and endpoint, from the same sources as other S3 clients: the environment and `~/.aws`.
//!
//! They are never printed, and files of a project cannot change them.

use crate::http::{Connector, Resolver};
use crate::location::Location;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::{BackoffConfig, Certificate, ClientOptions, RetryConfig};
use reqwest::Url;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The longest that one request may take: a part of an upload over a slow line. Callers have shorter deadlines.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// The credentials and settings of an S3 client.
#[derive(Clone)]
pub struct Access {
    /// The variables that start with `AWS_`.
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
}

impl fmt::Debug for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values are secrets.
        formatter.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    /// Takes the settings from these variables and from the files in this home directory, which are read when needed.
    pub fn new(variables: impl IntoIterator<Item = (String, String)>, home: Option<PathBuf>) -> Access {
        let variables = variables
            .into_iter()
            // A value that was read from a file often ends with a line break.
            .map(|(name, value)| (name, value.trim().to_owned()))
            .filter(|(name, value)| name.starts_with("AWS_") && !value.is_empty())
            .collect();
        Access { variables, home }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A client for this location. The error says what is missing and where to set it.
    pub(crate) fn client(&self, location: &Location) -> Result<AmazonS3, String> {
        // One provider of cryptography per process; an earlier choice stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = self.settings()?;
        let endpoint = settings.endpoint.as_deref().map(usable_endpoint).transpose()?;
        let from_variables = self.variables.iter().filter_map(|(name, value)| {
            let key = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>().ok()?;
            // The endpoint is set below.
            let is_other = !matches!(key, AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint);
            is_other.then(|| (key, value.clone()))
        });
        let mut builder = AmazonS3Builder::new();
        for (key, value) in from_variables.chain(settings.from_profile) {
            check_value(key, &value)?;
            builder = builder.with_config(key, value);
        }
        let has = |key| builder.get_config_value(&key).is_some();
        if has(AmazonS3ConfigKey::AccessKeyId) != has(AmazonS3ConfigKey::SecretAccessKey) {
            return Err(HALF_OF_THE_KEYS.to_owned());
        }
        let mut client =
            ClientOptions::new().with_connect_timeout(CONNECT_TIMEOUT).with_timeout(REQUEST_TIMEOUT);
        if let Some(bundle) = self.variable("AWS_CA_BUNDLE") {
            let pem = std::fs::read(bundle)
                .map_err(|error| format!("cannot read the certificates of AWS_CA_BUNDLE: {error}"))?;
            let certificates = Certificate::from_pem_bundle(&pem).unwrap_or_default();
            if certificates.is_empty() {
                return Err("AWS_CA_BUNDLE names a file without certificates".to_owned());
            }
            for certificate in certificates {
                client = client.with_root_certificate(certificate);
            }
        }
        client = client.with_allow_http(endpoint.as_deref().is_some_and(|url| url.starts_with("http://")));
        // Other servers than AWS have no host name for each bucket, and no certificate matches a bucket with dots.
        let has_bucket_host = endpoint.is_none() && !location.bucket().contains('.');
        if let Some(endpoint) = endpoint {
            builder = builder.with_endpoint(endpoint);
        }
        builder
            .with_bucket_name(location.bucket())
            .with_virtual_hosted_style_request(has_bucket_host)
            .with_checksum_algorithm(Checksum::SHA256)
            .with_client_options(client.with_dns_resolver(Arc::new(Resolver)))
            .with_http_connector(Connector { uses_imdsv1: self.variable("AWS_IMDSV1_FALLBACK").is_some() })
            .with_retry(retries())
            .build()
            .map_err(|error| format!("cannot set up the S3 client: {error}"))
    }

    /// The settings from the files that no variable overrides, and the endpoint.
    fn settings(&self) -> Result<Settings, String> {
        let named = self.variable("AWS_PROFILE").or_else(|| self.variable("AWS_DEFAULT_PROFILE"));
        let profile = named.unwrap_or("default");
        let credentials = self.file("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials");
        let config = self.file("AWS_CONFIG_FILE", ".aws/config");
        let mut found = section(&credentials, &[profile]);
        let section_name = format!("profile {profile}");
        let names: &[&str] =
            if profile == "default" { &["default", &section_name] } else { &[&section_name] };
        for (key, value) in section(&config, names) {
            found.entry(key).or_insert(value);
        }
        let mut settings = Settings::default();
        let mut take = |name: &str, key: AmazonS3ConfigKey| {
            if let Some(value) = found.get(name) {
                settings.from_profile.push((key, value.clone()));
            }
        };
        let has = |names: &[&str]| names.iter().any(|name| self.variable(name).is_some());
        if !has(&["AWS_ACCESS_KEY_ID"]) {
            take("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId);
            take("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey);
            take("aws_session_token", AmazonS3ConfigKey::Token);
        }
        if !has(&["AWS_REGION", "AWS_DEFAULT_REGION"]) {
            take("region", AmazonS3ConfigKey::Region);
        }
        settings.endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
            .iter()
            .find_map(|name| self.variable(name))
            .or_else(|| found.get("endpoint_url").map(String::as_str))
            .map(|url| url.trim_end_matches('/').to_owned());
        let has_credentials = found.contains_key("aws_access_key_id")
            || has(&[
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "AWS_SKIP_SIGNATURE",
            ]);
        if has_credentials {
            return Ok(settings);
        }
        let indirect = ["sso_session", "sso_start_url", "credential_process", "role_arn"];
        if indirect.iter().any(|key| found.contains_key(*key)) {
            return Err(format!(
                "the profile {profile:?} contains no keys: run `eval \"$(aws configure export-credentials --format env)\"` first"
            ));
        }
        match (named, &settings.endpoint) {
            (Some(_), _) => Err(format!("~/.aws contains no keys for the profile {profile:?} (AWS_PROFILE)")),
            // Without an endpoint this may be a machine of AWS, which provides the keys.
            (None, Some(_)) => Err(NO_KEYS.to_owned()),
            (None, None) => Ok(settings),
        }
    }

    fn file(&self, variable: &str, below_home: &str) -> String {
        let path = self.variable(variable).map(PathBuf::from);
        let path = path.or_else(|| Some(self.home.as_deref()?.join(below_home)));
        path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default()
    }
}

pub(crate) const NO_KEYS: &str = "no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or add them to ~/.aws/credentials";

const HALF_OF_THE_KEYS: &str = "one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing: set both, or add both to ~/.aws/credentials";

/// The endpoint in the form that the client needs; it panics at others. The error does not show it: it may contain a
/// password.
fn usable_endpoint(text: &str) -> Result<String, String> {
    let is_usable = |url: &Url| {
        matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
    };
    match Url::parse(text).ok().filter(is_usable) {
        Some(url) => Ok(url.as_str().trim_end_matches('/').to_owned()),
        None => Err("the endpoint is not a URL like http://server:8333: check AWS_ENDPOINT_URL".to_owned()),
    }
}

/// Rejects values that cannot be part of a header or a host name: the client panics at them.
fn check_value(key: AmazonS3ConfigKey, value: &str) -> Result<(), String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name = match key {
        AmazonS3ConfigKey::Token => "AWS_SESSION_TOKEN".to_owned(),
        key => key.as_ref().to_ascii_uppercase(),
    };
    if value.contains(char::is_control) {
        return Err(format!("{name} contains a line break or another control character: set it again"));
    }
    match key {
        AmazonS3ConfigKey::Region | AmazonS3ConfigKey::DefaultRegion if !value.chars().all(is_plain) => {
            Err(format!("{name} is not the name of a region: expected one like us-east-1"))
        }
        _ => Ok(()),
    }
}

#[derive(Default)]
struct Settings {
    from_profile: Vec<(AmazonS3ConfigKey, String)>,
    endpoint: Option<String>,
}

/// A few attempts within a second, because a caller waits, with growing and random pauses.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(3),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(30),
    }
}

/// The settings of the sections with one of these names. Indented lines are nested settings, which are skipped.
fn section(text: &str, names: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            inside = names.contains(&name.split_whitespace().collect::<Vec<_>>().join(" ").as_str());
        } else if inside
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            found.entry(key.trim().to_ascii_lowercase()).or_insert_with(|| value.trim().to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(variables: &[(&str, &str)], credentials: &str, config: &str) -> (tempfile::TempDir, Access) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let access = Access::new(variables, Some(home.path().to_owned()));
        (home, access)
    }

    const FILES: (&str, &str) = (
        "# mine\n[default]\naws_access_key_id = one\naws_secret_access_key=a=b\n\n[ci]\naws_access_key_id=two\n",
        "[default]\nregion = eu-west-1\ns3 =\n  endpoint_url = http://nested\n[profile ci]\nendpoint_url = http://server:9/\n\
         region=x\n[profile sso]\nsso_start_url = https://x\n",
    );

    /// Compares the settings for these variables, written as text, or a part of the error.
    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Result<&str, &str>) {
        let (_home, access) = access(variables, FILES.0, FILES.1);
        match (access.settings(), expected) {
            (Ok(settings), Ok(text)) => {
                let mut words: Vec<String> = settings
                    .from_profile
                    .iter()
                    .map(|(key, value)| format!("{}={value}", key.as_ref().trim_start_matches("aws_")))
                    .collect();
                words.extend(settings.endpoint.map(|endpoint| format!("at {endpoint}")));
                assert_eq!(words.join(" "), text);
            }
            (Err(error), Err(word)) => assert!(error.contains(word), "{error}"),
            (found, _) => panic!("{variables:?}: {:?}", found.map(|_| ())),
        }
    }

    #[test]
    fn variables_override_files() {
        check(&[], Ok("access_key_id=one secret_access_key=a=b region=eu-west-1"));
        check(&[("AWS_PROFILE", "ci")], Ok("access_key_id=two region=x at http://server:9"));
        check(&[("AWS_ACCESS_KEY_ID", "k"), ("AWS_REGION", "r")], Ok(""));
        check(
            &[
                ("AWS_ACCESS_KEY_ID", "k"),
                ("AWS_REGION", "r"),
                ("AWS_ENDPOINT_URL", "http://a/"),
                ("AWS_ENDPOINT_URL_S3", "http://b"),
            ],
            Ok("at http://b"),
        );
        check(&[("AWS_PROFILE", "sso")], Err("export-credentials"));
        check(&[("AWS_PROFILE", "nobody")], Err("\"nobody\""));
    }

    #[test]
    fn missing_keys_are_an_error_only_with_an_endpoint() {
        let (_home, nothing) = access(&[("AWS_ENDPOINT_URL", "http://x")], "", "");
        assert!(nothing.settings().err().unwrap().contains("AWS_ACCESS_KEY_ID"));
        let (_home, amazon) = access(&[], "", "");
        assert!(amazon.settings().is_ok(), "machines of AWS provide keys");
    }

    #[test]
    fn secrets_are_not_printed() {
        let (_home, access) = access(&[("AWS_SECRET_ACCESS_KEY", "hush")], "", "");
        assert!(!format!("{access:?}").contains("hush"));
    }
}
