//! Help is readable on a terminal of 100 columns.

mod support;

use std::fs;

use support::Project;

/// `max_term_width` of the command line.
const WIDTH: usize = 100;

/// What stands before the lines of a list in an option's help.
const INDENT: usize = 10;

fn too_wide(text: &str, width: usize) -> Vec<&str> {
    text.lines().filter(|line| line.chars().count() > width).collect()
}

/// Checks the help of a command and of its subcommands. Returns how many commands these are.
fn check_help(project: &Project, path: &[&str]) -> usize {
    let mut checked = 1;
    for option in ["-h", "--help"] {
        let help = project.evalrig(&[path, &[option]].concat()).out;
        assert!(help.contains("Usage: "), "{path:?}");
        assert_eq!(too_wide(&help, WIDTH), [""; 0], "{path:?} {option}");
        let commands = help.split_once("Commands:\n").map_or("", |(_, list)| list);
        let lines = commands.lines().take_while(|line| !line.is_empty());
        let names = lines.filter(|line| !line.starts_with("    ")).filter_map(|line| {
            let name = line.split_whitespace().next();
            name.filter(|name| *name != "help" && option == "-h")
        });
        for name in names {
            checked += check_help(project, &[path, &[name]].concat());
        }
    }
    checked
}

#[test]
fn help_is_at_most_100_columns_wide() {
    let checked = check_help(&Project::empty(), &[]);
    assert!(checked > 30, "only {checked} commands were found");
}

/// A line that is too long is broken by clap, and the rest of it looks like a line of its own. Man pages
/// have these texts unbroken.
#[test]
fn lists_and_examples_in_help_need_no_wrapping() {
    let project = Project::empty();
    project.evalrig(&["man", "man"]).exits(0);
    let pages = fs::read_dir(project.path("man")).expect("the pages");
    for page in pages {
        let path = page.expect("a page").path();
        let text = fs::read_to_string(&path).expect("a page");
        let text = text.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "");
        let (options, end) = text.split_once(".SH EXTRA\n").unwrap_or((&text, ""));
        let (end, _) = end.split_once(".SH ").unwrap_or((end, ""));
        assert_eq!(too_wide(end, WIDTH), [""; 0], "{}", path.display());
        let lists: String = options
            .lines()
            .filter(|line| line.starts_with("  "))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(too_wide(&lists, WIDTH - INDENT), [""; 0], "{}", path.display());
    }
}
