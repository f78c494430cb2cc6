//! Permission rules of OpenCode agents (seed 001 §6.1): whether a reader may start a sub-agent.
//!
//! The rules are the agent's `permission` as JSON, in one of two forms. Names and patterns may contain `*` for any text
//! and `?` for one character. The last rule that matches applies.
//!
//! ```
//! use offcut::permission::Permissions;
//!
//! let rules = Permissions::parse(r#"{"*": "allow", "task": {"*": "ask", "explore": "deny"}}"#)?;
//! assert!(rules.has_task_tool());
//! let rules = Permissions::parse(r#"[{"permission": "task", "pattern": "*", "action": "deny"}]"#)?;
//! assert!(!rules.has_task_tool());
//! # Ok::<(), offcut::permission::PermissionError>(())
//! ```

use crate::json::Node;
use crate::profile::TaskTool;

/// What an agent may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It may.
    Allow,
    /// It may if the user agrees.
    Ask,
    /// It may not.
    Deny,
}

/// One rule of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    /// The tools that it is about, such as `task` or `*`.
    pub permission: String,
    /// What the tool is used with, such as the name of a sub-agent.
    pub pattern: String,
    /// What applies.
    pub action: Action,
}

/// The rules of an agent, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions(Vec<PermissionRule>);

/// Why permission rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionError {
    /// The text is not JSON.
    #[error("invalid permission rules: {0}")]
    NotJson(#[from] serde_json::Error),
    /// A rule has another form.
    #[error(
        "invalid permission rule {found}: expected an action (allow, ask, deny), an object of them, or an array of \
         {{permission, pattern, action}}"
    )]
    NotARule {
        /// The beginning of the value.
        found: String,
    },
}

impl Permissions {
    /// The rules in a JSON text: an array of `{permission, pattern, action}`, or an object with an action, or with an
    /// action for each pattern, for each permission. `null` has no rules.
    pub fn parse(json: &str) -> Result<Permissions, PermissionError> {
        let node = Node::parse(json)?;
        let mut rules = Vec::new();
        if node.is_null() {
            return Ok(Permissions(rules));
        }
        if node.is_array() {
            for rule in node.elements() {
                let name = |key: &str| rule.get(key).and_then(text);
                let permission = name("permission").ok_or_else(|| not_a_rule(rule))?;
                let pattern = name("pattern").unwrap_or_else(|| "*".to_owned());
                let action = action(rule.get("action").ok_or_else(|| not_a_rule(rule))?)?;
                rules.push(PermissionRule { permission, pattern, action });
            }
        } else if node.is_object() {
            for (permission, value) in node.members() {
                let permission = String::from_utf8_lossy(&permission).into_owned();
                push_patterns(permission, value, &mut rules)?;
            }
        } else {
            push_patterns("*".to_owned(), node, &mut rules)?;
        }
        Ok(Permissions(rules))
    }

    /// The last rule that matches a permission and what it is used with. OpenCode's `PermissionNext.evaluate`.
    pub fn evaluate(&self, permission: &str, pattern: &str) -> Option<&PermissionRule> {
        let applies = |rule: &&PermissionRule| {
            is_match(&rule.permission, permission) && is_match(&rule.pattern, pattern)
        };
        self.0.iter().rfind(applies)
    }

    /// Whether the agent may start a sub-agent: a rule for the tool `task` exists and does not deny it.
    pub fn has_task_tool(&self) -> bool {
        self.evaluate("task", "*").is_some_and(|rule| rule.action != Action::Deny)
    }

    /// [`has_task_tool`](Permissions::has_task_tool) as a value for [`Rule::task`](crate::Rule).
    pub fn task_tool(&self) -> TaskTool {
        if self.has_task_tool() { TaskTool::Available } else { TaskTool::Absent }
    }
}

/// Adds the rules for one permission: an action, or an object with an action for each pattern.
fn push_patterns(
    permission: String,
    value: Node<'_>,
    rules: &mut Vec<PermissionRule>,
) -> Result<(), PermissionError> {
    if !value.is_object() {
        rules.push(PermissionRule { permission, pattern: "*".to_owned(), action: action(value)? });
        return Ok(());
    }
    for (pattern, value) in value.members() {
        let pattern = String::from_utf8_lossy(&pattern).into_owned();
        rules.push(PermissionRule { permission: permission.clone(), pattern, action: action(value)? });
    }
    Ok(())
}

fn action(node: Node<'_>) -> Result<Action, PermissionError> {
    match text(node).as_deref() {
        Some("allow") => Ok(Action::Allow),
        Some("ask") => Ok(Action::Ask),
        Some("deny") => Ok(Action::Deny),
        _ => Err(not_a_rule(node)),
    }
}

fn text(node: Node<'_>) -> Option<String> {
    String::from_utf8(node.text()?).ok()
}

fn not_a_rule(node: Node<'_>) -> PermissionError {
    PermissionError::NotARule { found: node.json().chars().take(60).collect() }
}

/// Whether a text matches a pattern with `*` and `?`.
fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut reached) = (0, 0);
    // The last `*`, and how much of the text it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while reached < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, reached));
                at += 1;
            }
            Some(&char) if char == '?' || char == text[reached] => {
                at += 1;
                reached += 1;
            }
            _ => {
                let Some((place, end)) = star else { return false };
                star = Some((place, end + 1));
                at = place + 1;
                reached = end + 1;
            }
        }
    }
    pattern[at..].iter().all(|&char| char == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_matching_rule_decides_about_the_task_tool() {
        let check = |json: &str, expected: bool| {
            assert_eq!(Permissions::parse(json).unwrap().has_task_tool(), expected, "{json}");
        };
        check("null", false);
        check("{}", false);
        check("[]", false);
        check(r#"{"task": "deny"}"#, false);
        check(r#"{"task": "ask"}"#, true);
        check(r#"{"*": "allow"}"#, true);
        check(r#""allow""#, true);
        check(r#"{"*": "allow", "task": "deny"}"#, false);
        check(r#"{"task": "deny", "*": "allow"}"#, true);
        check(r#"{"t?s*": "allow"}"#, true);
        check(r#"{"bash": "allow"}"#, false);
        check(r#"{"task": {"*": "ask", "explore": "deny"}}"#, true);
        check(r#"{"task": {"*": "deny", "explore": "allow"}}"#, false);
        check(r#"{"task": {"explore": "allow"}}"#, false);
        let rule = |permission: &str, pattern: &str, action: &str| {
            format!(r#"{{"permission":"{permission}","pattern":"{pattern}","action":"{action}"}}"#)
        };
        let rules = |rules: &[String]| format!("[{}]", rules.join(","));
        check(&rules(&[rule("*", "*", "allow"), rule("task", "*", "deny")]), false);
        check(&rules(&[rule("task", "*", "deny"), rule("*", "*", "ask")]), true);
        check(&rules(&[rule("task", "*", "allow"), rule("task", "explore", "deny")]), true);
        check(&rules(&[rule("bash", "*", "allow")]), false);
        check(r#"[{"permission": "task", "action": "ask"}]"#, true);
    }

    #[test]
    fn invalid_rules_are_errors() {
        for (json, expected) in [
            ("{", "invalid permission rules: "),
            (r#"{"task": true}"#, "invalid permission rule true: expected an action"),
            (r#"{"task": {"*": {}}}"#, "invalid permission rule {}"),
            (r#"[{"action": "deny"}]"#, "invalid permission rule {\"action\""),
            ("7", "invalid permission rule 7"),
        ] {
            let error = Permissions::parse(json).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{json}: {error}");
        }
    }

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "漢", true),
            ("task", "tasks", false),
            ("explore", "*", false),
            ("a.c", "abc", false),
        ] {
            assert_eq!(is_match(pattern, text), expected, "{pattern:?} {text:?}");
        }
    }
}
