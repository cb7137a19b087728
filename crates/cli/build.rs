//! Folds identical functions in release builds, where the linker can: the binary is about a tenth smaller.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// An option of lld, which is the default linker of Rust on some platforms only.
const FOLD: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && can_fold() {
        println!("cargo::rustc-link-arg-bins={FOLD}");
    }
}

/// Links an empty program with the option, in the way in which cargo links.
fn can_fold() -> bool {
    let (Ok(compiler), Ok(target), Ok(out)) =
        (env::var("RUSTC"), env::var("TARGET"), env::var("OUT_DIR"))
    else {
        return false;
    };
    let out = Path::new(&out);
    let source = out.join("empty.rs");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut command = Command::new(compiler);
    command.arg(source).arg("-o").arg(out.join("empty")).args(["--target", &target]);
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    command.arg(format!("-Clink-arg={FOLD}")).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
