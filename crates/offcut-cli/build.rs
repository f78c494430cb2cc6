//! Linker settings. The binary starts for every tool call, so the work of the loader delays each of them.

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(bare_start)");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_gnu_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // On these targets the standard library gets the arguments without its own start-up code
    // (docs/decisions/0011-no-main.md).
    if is_gnu_linux || is("CARGO_CFG_TARGET_OS", "macos") {
        println!("cargo::rustc-cfg=bare_start");
    }
    if !is_gnu_linux {
        return;
    }
    // The linker resolves addresses once, instead of the loader at each start
    // (docs/decisions/0010-position-independent-executable.md).
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Link the unwinder statically, so that the loader has one library less to find and map.
    if let Some(directory) = unwinder_directory() {
        println!("cargo::rustc-link-search=native={directory}");
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
}

/// The directory of the static unwinder, if the linker has one for the target.
fn unwinder_directory() -> Option<String> {
    let linker = match var("RUSTC_LINKER") {
        Ok(linker) => linker,
        Err(_) if var("HOST").ok()? == var("TARGET").ok()? => "cc".to_owned(),
        Err(_) => return None,
    };
    let found = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    // For a file that does not exist, the compiler prints the name without a directory.
    let directory = Path::new(path.trim()).parent().filter(|directory| directory.is_absolute())?;
    Some(directory.to_str()?.to_owned())
}
