//! `offcut config edit`: opens the user's configuration file in an editor, and checks it afterwards.

use super::{check, default, value_in, write};
use crate::arguments::GlobalOptions;
use crate::config::{self, KEYS, Kind, to_toml};
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use anyhow::Context;
use offcut::{Profile, Rule};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

pub(super) fn edit(global: &GlobalOptions) -> CommandResult {
    let path = config::user_file().context("cannot find the directory of the configuration file");
    let path = path.map_err(Failure::Usage)?;
    if !path.exists() {
        write(&path, &template(&Setup::without_warnings(global)?))
            .with_context(|| format!("cannot write {}", path.display()))
            .map_err(Failure::Usage)?;
    }
    open_editor(&path).map_err(Failure::Usage)?;
    check(global)
}

/// Waits until the editor is closed. Its name may have arguments, as in `code --wait`, so a shell starts it.
fn open_editor(path: &Path) -> anyhow::Result<()> {
    let variables = ["VISUAL", "EDITOR"].into_iter().filter_map(std::env::var_os);
    let editor = variables.into_iter().find(|value| !value.is_empty()).unwrap_or_else(|| "vi".into());
    let mut line = editor.clone();
    line.push(" \"$@\"");
    let arguments: [OsString; 4] = ["-c".into(), line, "offcut".into(), path.into()];
    let status = Command::new("/bin/sh").args(arguments).status().context("cannot start /bin/sh")?;
    let editor = editor.to_string_lossy();
    match status.code() {
        Some(0) => Ok(()),
        Some(126 | 127) => anyhow::bail!("cannot start the editor {editor:?}: set $VISUAL or $EDITOR"),
        _ => anyhow::bail!("the editor {editor:?} failed ({status}); {} was not checked", path.display()),
    }
}

/// A file in which every key is a comment with its default.
fn template(setup: &Setup) -> String {
    let profile = Profile::native();
    let settings = profile.settings(None, Rule::default()).ok();
    let mut text = String::from(
        "# The configuration of offcut. To change a setting, remove the # before its key.\n\
         # `offcut config check` reports mistakes; `offcut config show --origin` prints the effective settings.\n\n",
    );
    for key in KEYS {
        let set = settings.as_ref().and_then(|settings| value_in(key.name, settings));
        let value = match (set.or_else(|| default(key.name, setup, &profile).0), key.kind) {
            (Some(value), _) => to_toml(&value),
            (None, Kind::Switch) => "false".to_owned(),
            (None, Kind::Limit) => "\"none\"".to_owned(),
            (None, _) => "\"\" # not set".to_owned(),
        };
        text += &format!("# {}\n#{} = {value}\n\n", key.about, key.name);
    }
    text + "# Settings for one tool:\n#[tools.bash]\n#strategy = \"tail\"\n#limits.lines = 500\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, Trust};

    #[test]
    fn template_is_valid_with_every_default_enabled() {
        let setup = Setup::without_warnings(&GlobalOptions::default()).unwrap();
        let template = template(&setup);
        let parse = |text: &str| Layer::parse(Path::new("config.toml"), text, Trust::User).0;
        assert_eq!(parse(&template).settings.len(), 0, "everything is a comment");
        let enabled: String = template
            .lines()
            .filter(|line| !line.starts_with("# ") && !line.ends_with("not set"))
            .map(|line| format!("{}\n", line.trim_start_matches('#')))
            .collect();
        let layer = parse(&enabled);
        assert!(layer.settings.len() > 15 && layer.tools().count() == 2, "{enabled}");
        assert!(KEYS.iter().all(|key| template.contains(&format!("\n#{} = ", key.name))), "{template}");
    }
}
