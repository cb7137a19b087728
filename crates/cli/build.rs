//! Makes release builds for Linux smaller, where the linker can: identical functions are folded, addresses are
//! packed, and tables for unwinding are left out, because a panic ends the process. Together they are a fifth of
//! the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Understood by lld, which is the default linker of Rust on some platforms only.
const NO_TABLES: &str =
    "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.eh_frame.*) } } INSERT AFTER .text;\n";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if !is("PROFILE", "release") || !is("CARGO_CFG_TARGET_OS", "linux") {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let script = out.join("no-tables.ld");
    fs::write(&script, NO_TABLES).expect("a file of our own");
    let options = [
        "-Wl,--icf=all".to_owned(),
        format!("-Wl,-T,{}", script.display()),
        // Thirty thousand addresses are adjusted at each start; packed, they are a tenth of the pages to read.
        "-Wl,-z,pack-relative-relocs".to_owned(),
    ];
    for option in options.into_iter().filter(|option| works(option, &out)) {
        println!("cargo::rustc-link-arg-bins={option}");
    }
}

/// Links a small program with the option in the way in which cargo links, and starts it if this machine can.
fn works(option: &str, out: &Path) -> bool {
    let (Ok(compiler), Ok(target)) = (env::var("RUSTC"), env::var("TARGET")) else { return false };
    let (source, program) = (out.join("probe.rs"), out.join("probe"));
    let text = "fn main() { std::thread::spawn(|| ()).join().unwrap(); }\n";
    if fs::write(&source, text).is_err() {
        return false;
    }
    let mut command = Command::new(compiler);
    command.arg(source).arg("-o").arg(&program).args(["--target", &target, "-Cpanic=abort"]);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    command.arg(format!("-Clink-arg={option}"));
    let is_native = env::var("HOST").is_ok_and(|host| host == target);
    succeeds(&mut command) && (!is_native || succeeds(&mut Command::new(program)))
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
