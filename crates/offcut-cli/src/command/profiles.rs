//! `offcut profiles`: lists the profiles, or prints one.

use crate::arguments::{Format, GlobalOptions, Profiles};
use crate::config;
use crate::failure::{CommandResult, Failure};
use offcut::Profile;
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    name: String,
    about: String,
}

pub(crate) fn profiles(global: &GlobalOptions, profiles: &Profiles) -> CommandResult {
    if let Some(name) = &profiles.name {
        let user_text = || config::user_profile(name).map(|(_, text)| text);
        config::profile(name).map_err(Failure::Usage)?;
        let text = Profile::text(name).map(str::to_owned).or_else(user_text).unwrap_or_default();
        return super::print(text.as_bytes());
    }
    let mut rows = Vec::new();
    for name in Profile::names().map(str::to_owned).chain(config::user_profiles()) {
        let about = config::profile(&name)
            .map_or_else(|error| format!("invalid: {error:#}"), |profile| profile.about().to_owned());
        rows.push(Row { name, about });
    }
    match global.format {
        Format::Json => super::print_json(&rows),
        Format::Text => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            let lines: String =
                rows.iter().map(|row| format!("{:width$}  {}\n", row.name, row.about)).collect();
            super::print(lines.as_bytes())
        }
    }
}
