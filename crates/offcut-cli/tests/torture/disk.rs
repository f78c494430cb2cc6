//! Full disks: a limit on the size of files, and a small file system where one can be mounted. The exit code stays, and what
//! the preview says about the stored part is true.

use crate::entries;
use crate::harness::{Sandbox, binary, feed};
use crate::random::Random;
use std::process::Command;
use std::sync::LazyLock;

/// Whether a file system can be mounted in a namespace of its own.
static CAN_MOUNT: LazyLock<bool> = LazyLock::new(|| {
    let line = "mount -t tmpfs -o size=64k tmpfs /mnt";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", line]);
    command.output().is_ok_and(|output| output.status.success())
});

pub(crate) fn round(random: &mut Random) -> u64 {
    let sandbox = Sandbox::new();
    let lines = 1500 + random.size(100_000);
    let text = random.lines(lines).into_bytes();
    let input = sandbox.path().join("input");
    std::fs::write(&input, &text).unwrap();
    let kib = random.size(3000);
    let offcut = binary();
    let attacked = match random.below(3) {
        0 => format!("'{offcut}' cut < '{}'; exit 7", input.display()),
        1 => format!("'{offcut}' run --shell 'cat {}; exit 7'", input.display()),
        _ => format!("'{offcut}' shell -c 'cat {}; exit 7'", input.display()),
    };
    let mut shell;
    if *CAN_MOUNT && random.once_in(2) {
        // The file system ends with the namespace, so its files are copied to the default store.
        let store = sandbox.store();
        let line = format!(
            "mkdir -p -m 700 '{0}' && mount -t tmpfs -o size={kib}k,nr_inodes={1},mode=700 tmpfs '{0}' || exit 99
             ( {attacked} ); code=$?; cp -a '{0}' copied; umount '{0}' && rmdir '{0}' && mv copied '{0}'; exit $code",
            store.display(),
            2 + random.below(12),
        );
        shell = Command::new("unshare");
        shell.args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c", &line]);
    } else {
        let trap = *random.pick(&["", "trap '' XFSZ; "]);
        shell = Command::new("/bin/bash");
        shell.args(["-c", &format!("{trap}ulimit -f {kib}; {attacked}")]);
    }
    shell.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin").current_dir(sandbox.path());
    let ran = feed(shell, b"");
    entries::check_end(&ran);
    assert_eq!(ran.code, Some(7), "{kib} KiB: {attacked}: {}", ran.stderr);
    entries::check_preview(&sandbox, &ran.stdout, &text);
    let complete = entries::check(&sandbox, &[text]);
    u64::from(complete == 0)
}
