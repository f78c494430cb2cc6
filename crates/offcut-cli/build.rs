//! How the binary is linked: it stands before every tool call, so what the loader does is on the way of each.

use std::env::var;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(bare_start)");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let is_gnu_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Only there does the standard library know the arguments without its own start.
    if is_gnu_linux || is("CARGO_CFG_TARGET_OS", "macos") {
        println!("cargo::rustc-cfg=bare_start");
    }
    if !is_gnu_linux {
        return;
    }
    // Addresses are settled by the linker once, and not by the loader at each start, page by page.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // The unwinder is in the binary, so that there is one library less to find and to map.
    if let Some(directory) = unwinder() {
        println!("cargo::rustc-link-search=native={directory}");
        println!("cargo::rustc-link-lib=static=gcc_eh");
    }
}

/// Where the linker has the static unwinder, if it has one for the target.
fn unwinder() -> Option<String> {
    let linker = match var("RUSTC_LINKER") {
        Ok(linker) => linker,
        Err(_) if var("HOST").ok()? == var("TARGET").ok()? => "cc".to_owned(),
        Err(_) => return None,
    };
    let found = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = String::from_utf8(found.stdout).ok()?;
    // One that is not found is named without a directory.
    let directory = Path::new(path.trim()).parent().filter(|directory| directory.is_absolute())?;
    Some(directory.to_str()?.to_owned())
}
