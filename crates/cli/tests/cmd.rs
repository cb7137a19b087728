//! The manual in `tests/cmd`, run command by command.

#[test]
fn the_manual_is_true() {
    trycmd::TestCases::new()
        .register_bin("evalrig", std::path::Path::new(env!("CARGO_BIN_EXE_evalrig")))
        .env("NO_COLOR", "1")
        // In CI the run log is off.
        .env("CI", "")
        .env("CLICOLOR_FORCE", "0")
        .case("tests/cmd/*.md");
}
