//! Outputs that one machine stores and another reads.

use crate::harness::{numbered, until};
use crate::{Machine, place};

#[test]
fn one_machine_reads_what_another_stored() {
    let store = place();
    let (writer, reader) = (Machine::new("ci-1", &store), Machine::new("laptop", &store));
    let text = numbered(100_000);
    let shown =
        writer.run(&["run", "--tool", "bash", "--session", "s1", "--shell", "seq 1 100000; exit 3"], b"");
    assert_eq!(shown.code, Some(3));
    let content = String::from_utf8(shown.stdout).unwrap();
    assert!(content.len() <= 9500 && content.contains("nothing is lost: offcut://"), "{content}");
    assert!(
        !content.contains("only on this machine") && shown.stderr.is_empty(),
        "{content}{}",
        shown.stderr
    );
    let id = content.split("offcut://").nth(1).unwrap()[..16].to_owned();
    assert!(!writer.sandbox.path().join(".local/share/offcut").exists(), "nothing is in the local store");

    // The command of the hint, unchanged.
    assert_eq!(reader.run(&["cat", &id], b"").text(), text);
    assert_eq!(
        reader.run(&["read", &id[..10], "--lines", "50000:50002"], b"").text(),
        "50000\n50001\n50002\n"
    );
    assert_eq!(reader.run(&["grep", "^77777$", &id], b"").text(), "77777:77777\n");
    let entry = reader.run(&["show", "last", "--format", "json"], b"").json();
    assert_eq!((entry["host"].as_str(), entry["exit_code"].as_i64()), (Some("ci-1"), Some(3)));
    assert_eq!(entry["tool"], "bash");
    assert_eq!(entry["command"].as_str(), None, "a command may contain secrets, so it is not uploaded");

    let other = Machine::new("ci-2", &store).cut(&["--tool", "Read"], numbered(5000).as_bytes());
    let listed = |options: &[&str]| {
        let rows = reader.run(&[&["ls", "--format", "json"], options].concat(), b"").json();
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&[]), [other.as_str(), &id]);
    assert_eq!(listed(&["--host", "ci-1"]), [id.as_str()]);
    assert_eq!(listed(&["--tool", "Read"]), [other.as_str()]);
    assert_eq!(listed(&["--session", "s1"]), [id.as_str()]);
    assert_eq!(listed(&["--limit", "1"]), [other.as_str()]);
    assert_eq!(listed(&["--before", &other]), [id.as_str()]);
    assert_eq!(listed(&["--day", "2001-01-01"]), [""; 0]);
    let table = reader.run(&["ls"], b"").text();
    assert!(table.contains("HOST") && table.contains("ci-1") && table.contains("588895"), "{table}");

    reader.run(&["pin", &id], b"").text();
    let cleaned = writer.run(&["clean", "--older-than", "0s", "--format", "json"], b"").json();
    assert_eq!((cleaned["removed"].as_u64(), cleaned["left"].as_u64()), (Some(1), Some(1)), "{cleaned}");
    assert_eq!(listed(&[]), [id.as_str()], "a pinned entry stays when another machine cleans");
    reader.run(&["rm", &id], b"").failed(2, "it is pinned");
    reader.run(&["rm", "--force", &id], b"").text();
    reader.run(&["cat", &id], b"").failed(3, "no stored output");
}

#[test]
fn commands_are_uploaded_only_if_that_is_configured() {
    let store = place();
    let (mut writer, reader) = (Machine::new("ci", &store), Machine::new("laptop", &store));
    writer.set("OFFCUT_SHARE_COMMANDS", "true");
    writer.run(&["run", "--shell", "seq 1 5000"], b"").text();
    let entry = reader.run(&["show", "last", "--format", "json"], b"").json();
    assert_eq!(entry["command"], "seq 1 5000", "{entry}");
}

#[test]
fn a_hint_names_the_store_if_a_flag_named_it() {
    let (store, machine) = (place(), Machine::new("ci", "none"));
    let shown = machine.run(&["cut", "--store", &store], numbered(5000).as_bytes()).text();
    assert!(shown.contains(&format!("more: offcut --store {store} read ")), "{shown}");
    // The reader of the hint has the same variables.
    let shown = Machine::new("ci", &store).run(&["cut"], numbered(5000).as_bytes()).text();
    assert!(shown.contains("more: offcut read "), "{shown}");
}

#[test]
fn the_documented_policy_limits_a_team_to_its_prefix() {
    let (own, other) = (place().replace("/cli/", "/team-a/"), place());
    let member = |store: &str| {
        let mut machine = Machine::new("ci", store);
        machine.set("AWS_ACCESS_KEY_ID", "teamkey").set("AWS_SECRET_ACCESS_KEY", "teamsecret");
        machine
    };
    let id = member(&own).cut(&[], numbered(5000).as_bytes());
    // Every operation, with only the permissions that the documentation gives.
    let machine = member(&own);
    assert_eq!(machine.run(&["cat", &id], b"").text(), numbered(5000));
    for arguments in
        [&["pin", &id][..], &["pin", "--remove", &id], &["ls"], &["stats"], &["rm", &id], &["clean"]]
    {
        machine.run(arguments, b"").text();
    }
    let id = Machine::new("other", &other).cut(&[], numbered(5000).as_bytes());
    let stranger = member(&other);
    for arguments in
        [&["cat", &id][..], &["rm", &id], &["pin", &id], &["ls"], &["clean", "--older-than", "0s"]]
    {
        stranger.run(arguments, b"").failed(4, "access denied (AccessDenied): these keys may not do this");
    }
    assert!(
        stranger.run(&["cut"], numbered(5000).as_bytes()).text().contains("so far: "),
        "stored on this machine"
    );
    // An id gives no access to another prefix.
    member(&own).run(&["cat", &id], b"").failed(3, "no stored output");
    assert_eq!(Machine::new("other", &other).run(&["cat", &id], b"").text(), numbered(5000));
}

#[test]
fn the_longest_prefix_has_a_spool_directory() {
    let store = place();
    let prefix = store.strip_prefix("s3://").unwrap().split_once('/').unwrap().1.len();
    let id = Machine::new("ci", &format!("{store}{}", "x".repeat(180 - prefix)))
        .cut(&[], numbered(5000).as_bytes());
    assert_eq!(id.len(), 16);
}

#[test]
fn an_output_within_the_limits_touches_no_store() {
    let mut machine = Machine::new("ci", &place());
    machine.set("AWS_ENDPOINT_URL", "http://127.0.0.1:1");
    assert_eq!(machine.run(&["cut"], b"short\n").text(), "short\n");
    assert!(!machine.sandbox.path().join(".local/share").exists(), "only the ledger is written");
}

#[test]
fn an_output_that_continues_is_uploaded_when_it_has_ended() {
    let store = place();
    let (machine, reader) = (Machine::new("ci", &store), Machine::new("other", &store));
    let script = "(while [ ! -e stop ]; do sleep 0.02; done; echo the end) & seq 1 5000";
    let shown = machine.run(&["run", "--shell", script], b"").text();
    assert!(shown.contains("still running, later output is added"), "{shown}");
    let id = shown.rsplit("[offcut ").next().unwrap()[..10].to_owned();
    std::fs::write(machine.sandbox.path().join("stop"), "").unwrap();
    until(|| machine.run(&["show", &id, "--format", "json"], b"").json()["complete"] == true);
    // The next stored output starts an uploader in the background.
    machine.cut(&[], numbered(5000).as_bytes());
    until(|| reader.run(&["cat", &id], b"").code == Some(0));
    assert_eq!(reader.run(&["cat", &id], b"").text(), numbered(5000) + "the end\n");
}

#[test]
fn a_project_cannot_choose_the_store() {
    let machine = Machine::new("ci", "");
    std::fs::write(machine.sandbox.path().join(".offcut.toml"), "[store]\npath = \"s3://elsewhere/x\"\n")
        .unwrap();
    std::fs::create_dir(machine.sandbox.path().join(".git")).unwrap();
    let ran = machine.run(&["cut"], numbered(5000).as_bytes());
    assert!(ran.stderr.contains("store.path"), "{}", ran.stderr);
    assert!(ran.text().contains("/.local/share/offcut/"), "the local store is used");
}

#[test]
fn doctor_stores_reads_and_removes_an_output() {
    let machine = Machine::new("m1", &place());
    let text = machine.run(&["doctor"], b"").text();
    assert!(
        text.contains(&format!(
            "ok store          {}: stored, read and removed an output in ",
            machine.store
        )),
        "{text}"
    );
    assert_eq!(machine.run(&["ls", "--format", "json"], b"").json(), serde_json::json!([]));
}
