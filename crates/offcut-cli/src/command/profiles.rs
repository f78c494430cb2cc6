//! `offcut profiles`: what there is to choose from.

use crate::arguments::{Everywhere, Format, Profiles};
use crate::failure::Outcome;
use offcut::Profile;
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    name: String,
    about: String,
}

pub(crate) fn profiles(everywhere: &Everywhere, profiles: &Profiles) -> Outcome {
    if let Some(name) = &profiles.name {
        Profile::named(name)?;
        return super::print(Profile::text(name).unwrap_or_default().as_bytes());
    }
    let mut rows = Vec::new();
    for name in Profile::names() {
        let Profile { name, about, .. } = Profile::named(name)?;
        rows.push(Row { name, about });
    }
    match everywhere.format {
        Format::Json => super::print_json(&rows),
        Format::Text => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            let lines: String =
                rows.iter().map(|row| format!("{:width$}  {}\n", row.name, row.about)).collect();
            super::print(lines.as_bytes())
        }
    }
}
