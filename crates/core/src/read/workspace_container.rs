//! `docker` of a workspace: the container that the agent and the checks run in (spec 17.1, 17.4).

use crate::diagnostic::Diagnostic;
use crate::model::ContainerSettings;
use crate::reader::{Options, ReadResult, Reported};
use crate::syntax::fields::{Entry, Field, INVALID_OPTION, Shape, shorten};

use super::workspace::scalar_text;

pub(super) static DOCKER_FIELDS: &[Field] = &[
    Field::new("image", Shape::NonEmptyText, "image of the container"),
    Field::new("memory", Shape::TextOrScalar, "limit of memory, such as `2g`"),
    Field::new("cpus", Shape::TextOrScalar, "limit of processors, such as `1.5`"),
];

pub(super) fn read_container(
    options: &mut Options<'_, '_, '_>,
) -> ReadResult<Option<ContainerSettings>> {
    options.nested("docker", DOCKER_FIELDS, |options| {
        let image = options.full_text("image")?;
        let memory = options.optional("memory", |options, entry| {
            let help = "write a number with a unit: `512m`, `2g`";
            read_limit(options, entry, is_memory, help)
        });
        let cpus = options.optional("cpus", |options, entry| {
            read_limit(options, entry, is_positive, "write how many processors: `1.5`")
        });
        let image = image.map(|image| image.value);
        Ok(ContainerSettings { image, memory: memory?, cpus: cpus? })
    })
}

fn read_limit<'t>(
    options: &mut Options<'_, '_, 't>,
    entry: &Entry<'t>,
    is_valid: impl Fn(&str) -> bool,
    help: &str,
) -> ReadResult<String> {
    let written = scalar_text(options, entry)?;
    if is_valid(&written) {
        return Ok(written);
    }
    let message = format!("`{}` is not a limit for `{}`", shorten(&written), entry.field.name);
    options.report(Diagnostic::new(&INVALID_OPTION, entry.value.span(), message).help(help));
    Err(Reported)
}

/// What Docker and Podman read as a size: a number, then a unit up to petabytes.
fn is_memory(written: &str) -> bool {
    let lower = written.to_ascii_lowercase();
    let bare = lower.strip_suffix('b').unwrap_or(&lower);
    let bare = bare.strip_suffix('i').unwrap_or(bare);
    is_positive(bare.strip_suffix(['k', 'm', 'g', 't', 'p']).unwrap_or(bare))
}

/// Digits, and a fraction.
fn is_positive(written: &str) -> bool {
    let is_plain = written.chars().all(|one| one.is_ascii_digit() || one == '.');
    let begins = written.starts_with(|one: char| one.is_ascii_digit());
    is_plain && begins && written.parse().is_ok_and(|number: f64| number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_what_container_programs_read() {
        for good in ["2g", "512m", "1.5G", "1073741824", "64MiB", "100kb", "7b"] {
            assert!(is_memory(good), "{good}");
        }
        for bad in ["", "lots", "-1", "0", "g", "2 gg", "2x", "--privileged", "1e9", ".", "NaN"] {
            assert!(!is_memory(bad), "{bad}");
        }
        assert!(is_positive("1.5") && is_positive("2"));
        for bad in ["-1", "0", "0.0", "two", "1.5.2", "inf", ""] {
            assert!(!is_positive(bad), "{bad}");
        }
    }
}
