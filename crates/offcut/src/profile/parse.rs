//! Profiles from TOML: the built-in ones, and those of users.

use super::{Profile, Rule};
use crate::limits::LimitError;
use std::collections::BTreeMap;

/// The built-in profiles: name and text.
const BUILT_IN: [(&str, &str); 6] = [
    ("native", include_str!("../profiles/native.toml")),
    ("opencode", include_str!("../profiles/opencode.toml")),
    ("coding-agent", include_str!("../profiles/coding-agent.toml")),
    ("unified", include_str!("../profiles/unified.toml")),
    ("takumi", include_str!("../profiles/takumi.toml")),
    ("klaude", include_str!("../profiles/klaude.toml")),
];

/// The presets: a rule for each name.
pub fn presets() -> BTreeMap<String, Rule> {
    toml::from_str(include_str!("../profiles/presets.toml"))
        .unwrap_or_else(|error| unreachable!("the built-in presets are tested: {error}"))
}

/// Why a profile cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// There is no profile with this name.
    #[error("no profile {name:?}; available: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of the profiles that exist.
        known: String,
    },
    /// The text is not a valid profile.
    #[error("invalid profile: {0}")]
    Invalid(#[from] toml::de::Error),
    /// Its limits cannot be used.
    #[error(transparent)]
    Limits(#[from] LimitError),
}

impl Profile {
    /// The names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// The text of a built-in profile.
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|&&(known, _)| known == name).map(|&(_, text)| text)
    }

    /// A built-in profile by name.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let text = Profile::text(name).ok_or_else(|| ProfileError::Unknown {
            name: name.chars().take(80).collect(),
            known: Profile::names().collect::<Vec<_>>().join(", "),
        })?;
        Profile::parse(text)
    }

    /// A profile from its TOML text.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        let profile: Profile = toml::from_str(text)?;
        let own = Rule { limits: profile.limits, keep: profile.keep, ..Rule::default() };
        for rule in profile.tools.values().copied().chain([own]) {
            profile.check(rule)?;
        }
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::strategy::StrategyName;

    #[test]
    fn built_in_profiles_are_valid() {
        for name in Profile::names() {
            let profile = Profile::named(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(profile.name, name);
        }
        let parsed = Profile::named("native").unwrap();
        assert_eq!(format!("{parsed:?}"), format!("{:?}", Profile::native()));
        assert!(matches!(Profile::named("nope"), Err(ProfileError::Unknown { .. })));
        assert_eq!(presets().keys().collect::<Vec<_>>(), ["code", "error", "log"]);
    }

    #[test]
    fn call_over_tool_over_profile_key_by_key() {
        let profile = Profile::named("coding-agent").unwrap();
        let bash = profile.settings(Some("bash"), Rule::default()).unwrap();
        assert_eq!(
            (bash.strategy, bash.limits.lines, bash.limits.bytes),
            (StrategyName::Tail, Some(500), Some(51200))
        );
        let call = Rule { limits: Limits { lines: Some(10), ..Limits::default() }, ..Rule::default() };
        let bash = profile.settings(Some("bash"), call).unwrap();
        assert_eq!(
            (bash.strategy, bash.limits.lines, bash.limits.bytes),
            (StrategyName::Tail, Some(10), Some(51200))
        );
        assert!(!profile.settings(Some("read"), Rule::default()).unwrap().enabled);
        let forced = Rule { enabled: Some(true), ..Rule::default() };
        assert!(profile.settings(Some("read"), forced).unwrap().enabled);
        assert!(profile.settings(Some("unknown"), Rule::default()).unwrap().enabled);
    }
}
