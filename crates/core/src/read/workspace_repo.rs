//! Repositories of a workspace (spec 17.1), in the flat form and in the nested one of agentv.

use crate::diagnostic::{Diagnostic, declare_codes};
use crate::model::{RepoOrigin, WorkspaceRepo};
use crate::reader::{Options, ReadResult, Reported};
use crate::source::{EntryKind, Span, Spanned};
use crate::syntax::fields::{CONFLICTING_FIELDS, Entry, Field, INVALID_OPTION, Shape, shorten};

use super::workspace::{read_path, scalar_text};

declare_codes! {
    COMMIT_NOT_PINNED = "commit-not-pinned", Warning, Reference, r#"A repository of a workspace is checked out at a branch, which moves.

## Example
```yaml
name: demo
workspace:
  repos:
    - {repo: https://example.org/shop.git, commit: main, path: shop}
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```

## Instead
```yaml
name: demo
workspace:
  repos:
    - {repo: https://example.org/shop.git, commit: 3f2a91c08d5e4b1f9a7c6d2e8b0f4a5c1d3e7f90, path: shop}
tests:
  - {id: a, criteria: Fixes the bug, input: Fix the bug}
```

## Why
Two runs would give the agent different files, so their results could not be compared. Write the whole hash of a
commit, or a tag that names a version.
"#;
}

pub static WORKSPACE_REPO_FIELDS: &[Field] = &[
    Field::new(
        "repo",
        Shape::NonEmptyText,
        "address, path, or `owner/name` of a repository on GitHub",
    ),
    Field::new("commit", Shape::TextOrScalar, "commit or tag that is checked out")
        .also(&["base_commit"]),
    Field::new("path", Shape::NonEmptyText, "where it is placed, below the workspace").required(),
    ANCESTOR,
    SPARSE,
    Field::new("source", Shape::Fields(SOURCE_FIELDS), "the same as `repo`, in agentv's form"),
    Field::new(
        "checkout",
        Shape::Fields(CHECKOUT_FIELDS),
        "the same as `commit`, in agentv's form",
    ),
    Field::new("clone", Shape::Fields(CLONE_FIELDS), "how agentv clones; only `sparse` counts"),
];

const MOST_ANCESTORS: u64 = 100_000;

const ANCESTOR: Field = Field::new(
    "ancestor",
    Shape::Integer { min: 0, max: MOST_ANCESTORS },
    "how many commits before it; default 0",
);

const SPARSE: Field = Field::new(
    "sparse",
    Shape::List(&Shape::NonEmptyText),
    "directories that are checked out; default: all",
);

static SOURCE_FIELDS: &[Field] = &[
    Field::new("type", Shape::Choice(SOURCE_TYPES), "`git` for an address, `local` for a path"),
    Field::new("url", Shape::NonEmptyText, "address of the repository"),
    Field::new("path", Shape::NonEmptyText, "path of the repository"),
];

const SOURCE_TYPES: &[&str] = &["git", "local"];

static CHECKOUT_FIELDS: &[Field] = &[
    Field::new("ref", Shape::TextOrScalar, "commit, tag or branch").also(&["base_commit"]),
    Field::new("resolve", Shape::Choice(RESOLVES), "no effect: a missing commit is fetched"),
    ANCESTOR,
];

const RESOLVES: &[&str] = &["local", "remote"];

static CLONE_FIELDS: &[Field] = &[
    Field::new("depth", Shape::Integer { min: 1, max: u64::MAX }, "no effect"),
    Field::new("filter", Shape::Text, "no effect"),
    SPARSE,
];

/// Addresses that git may be given. Others, such as `ext::`, can run programs.
const SCHEMES: &[&str] = &["https://", "http://", "ssh://", "git://"];

pub(super) fn read_repos(
    options: &mut Options<'_, '_, '_>,
) -> ReadResult<Option<Vec<Spanned<WorkspaceRepo>>>> {
    let repos = options.nested_list("repos", WORKSPACE_REPO_FIELDS, |options| {
        let place = options.get("path").map_or(options.head(), |entry| entry.value.span());
        let origin = options.get("repo").or_else(|| options.get("source"));
        let origin = origin.map_or(options.head(), |entry| entry.value.span());
        Ok((Spanned::new(read_repo(options)?, origin), place))
    })?;
    let Some(repos) = repos else { return Ok(None) };
    for (at, (repo, place)) in repos.iter().enumerate() {
        let twin = repos[..at].iter().find(|(other, _)| other.value.path == repo.value.path);
        if let Some((_, first)) = twin {
            let message =
                format!("two repositories have the path `{}`", shown_path(&repo.value.path));
            let fault = Diagnostic::new(&CONFLICTING_FIELDS, *place, message)
                .related(*first, "the other one")
                .help("give each repository a path of its own");
            return Err(options.report(fault));
        }
    }
    Ok(Some(repos.into_iter().map(|(repo, _)| repo).collect()))
}

fn shown_path(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn read_repo(options: &mut Options<'_, '_, '_>) -> ReadResult<WorkspaceRepo> {
    let path = options.require("path").and_then(|_| read_path(options, "path"));
    let origin = read_origin(options);
    let checkout = options.nested("checkout", CHECKOUT_FIELDS, |options| {
        options.choice_of("resolve", RESOLVES)?;
        Ok(Checkout {
            commit: options.optional("ref", read_commit)?,
            ancestor: options.integer("ancestor", 0, MOST_ANCESTORS)?,
        })
    });
    let clone = options.nested("clone", CLONE_FIELDS, |options| options.texts("sparse"));
    let commit = options.optional("commit", read_commit);
    let ancestor = options.integer("ancestor", 0, MOST_ANCESTORS);
    let sparse = options.texts("sparse");
    let (checkout, origin) = (checkout?.unwrap_or_default(), origin?);
    let commit = match commit?.or(checkout.commit) {
        Some(commit) => commit,
        // A repository of agentv that is copied has no commit.
        None if origin.is_local_copy => {
            let place = options.get("source").map_or(options.head(), |entry| entry.key.span());
            Spanned::new("HEAD".to_owned(), place)
        }
        None => {
            options.require("commit")?;
            return Err(Reported);
        }
    };
    if !is_pinned(&commit.value) {
        let name = shorten(&commit.value);
        let message = format!("`{name}` is not a fixed commit: the files change with it");
        let help = "write the hash of a commit";
        options.report(Diagnostic::new(&COMMIT_NOT_PINNED, commit.span, message).help(help));
    }
    let sparse = sparse?.or(clone?.flatten()).unwrap_or_default();
    let mut directories = Vec::with_capacity(sparse.len());
    for Spanned { value, span } in sparse {
        let directory = options.reader.path_in_workspace(value.trim_start_matches('/'), span);
        directories.push(directory.ok_or(Reported)?);
    }
    Ok(WorkspaceRepo {
        origin: origin.origin,
        commit: commit.value,
        path: path?.unwrap_or_default(),
        ancestor: ancestor?.or(checkout.ancestor).unwrap_or(0) as u32,
        sparse: directories,
    })
}

#[derive(Default)]
struct Checkout {
    commit: Option<Spanned<String>>,
    ancestor: Option<u64>,
}

struct ReadOrigin {
    origin: RepoOrigin,
    /// Written as `source: {type: local}`, which needs no commit.
    is_local_copy: bool,
}

/// `repo`, or `source` with `url` or `path`.
fn read_origin(options: &mut Options<'_, '_, '_>) -> ReadResult<ReadOrigin> {
    if let (Some(repo), Some(source)) = (options.get("repo"), options.get("source")) {
        return Err(options.spelled_twice(&repo, &source));
    }
    if options.has("source") {
        let source = options.nested("source", SOURCE_FIELDS, |options| {
            let is_local = options.choice_of("type", SOURCE_TYPES)? == Some("local");
            let name = if is_local || !options.has("url") { "path" } else { "url" };
            let text = options.required_text(name)?;
            let origin = if is_local {
                let path = options.reader.existing_directory(&text.value, text.span);
                RepoOrigin::Path(path.ok_or(Reported)?)
            } else {
                find_origin(options, &text.value, text.span)?
            };
            Ok(ReadOrigin { origin, is_local_copy: is_local })
        })?;
        return source.ok_or(Reported);
    }
    let text = options.required_text("repo")?;
    let origin = find_origin(options, &text.value, text.span)?;
    Ok(ReadOrigin { origin, is_local_copy: false })
}

/// An address, a path, or `owner/name`.
fn find_origin(
    options: &mut Options<'_, '_, '_>,
    text: &str,
    span: Span,
) -> ReadResult<RepoOrigin> {
    let is_address = text.contains("://") && !text.starts_with("file://");
    let is_usable = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
    if (is_address && !is_usable) || text.contains("::") || text.starts_with('-') {
        let message = format!("`{}` is not the address of a repository", shorten(text));
        let help = "write an address that begins with `https://` or `ssh://`, or a path";
        return Err(options.report(Diagnostic::new(&INVALID_OPTION, span, message).help(help)));
    }
    if is_address || is_ssh_address(text) {
        return Ok(RepoOrigin::Url(text.to_owned()));
    }
    let found = options.reader.look_up(text);
    match found {
        Some((path, EntryKind::Directory)) => Ok(RepoOrigin::Path(path)),
        _ if is_on_github(text) => Ok(RepoOrigin::Url(format!("https://github.com/{text}.git"))),
        _ => {
            let path = options.reader.existing_directory(text, span);
            path.map(RepoOrigin::Path).ok_or(Reported)
        }
    }
}

/// `git@example.org:shop.git`
fn is_ssh_address(text: &str) -> bool {
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let host = host.split_once('@').filter(|(user, host)| is_name(user) && is_name(host));
    host.is_some() && !path.is_empty() && !path.starts_with('-')
}

fn is_on_github(text: &str) -> bool {
    let is_name = |name: &str| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
            && name.bytes().any(|b| b != b'.')
    };
    matches!(text.split_once('/'), Some((owner, name)) if is_name(owner) && is_name(name))
}

fn read_commit<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
) -> ReadResult<Spanned<String>> {
    let (text, span) = (scalar_text(options, entry)?, entry.value.span());
    let is_harmful = text.starts_with('-') || text.contains(|c: char| c.is_control() || c == ' ');
    if is_harmful {
        let message = format!("`{}` cannot be the name of a commit", shorten(&text));
        return Err(options.report(Diagnostic::new(&INVALID_OPTION, span, message)));
    }
    Ok(Spanned::new(text, span))
}

/// The hash of a commit, or a tag that looks like a version. Branches are rarely named so.
fn is_pinned(commit: &str) -> bool {
    let is_hash = (7..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let tag = commit.strip_prefix("refs/tags/");
    let version = commit.rsplit('/').next().unwrap_or(commit);
    let digits = version.strip_prefix('v').unwrap_or(version);
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.');
    is_hash || tag.is_some() || is_version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_versions_are_pinned() {
        for commit in ["3f2a91c", &"a".repeat(40), &"0".repeat(64), "v1.2.3", "1.0", "refs/tags/x"]
        {
            assert!(is_pinned(commit), "{commit}");
        }
        for commit in ["main", "HEAD", "release", "deadbee-x", "abc", "feature/2"] {
            assert!(!is_pinned(commit), "{commit}");
        }
    }

    #[test]
    fn addresses_are_told_by_their_form() {
        assert!(is_ssh_address("git@github.com:a/b.git"));
        for text in ["a/b", "ext::sh -c x", "C:/x", "git@host:-x", "@h:x"] {
            assert!(!is_ssh_address(text), "{text}");
        }
        assert!(is_on_github("sympy/sympy") && is_on_github("a.b/c_d-e"));
        for text in ["sympy", "a/b/c", "../a", "./a", "/a", "a/", "a b/c", "-/.."] {
            assert!(!is_on_github(text), "{text}");
        }
    }
}
