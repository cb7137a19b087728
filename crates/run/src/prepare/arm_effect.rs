//! Settings of an arm that its target cannot take: arms that differ only on paper would be compared.

use evalrig_core::declare_codes;
use evalrig_core::diagnostic::{Diagnostic, Level};

use crate::execute::{ConnectedTarget, TargetVariant};
use crate::provider::ArmSetting;
use crate::target::Target;

declare_codes! {
    ARM_WITHOUT_EFFECT = "arm-without-effect", BlocksRun, Target, r#"An arm sets something that its target cannot take: `model` or `args` of a target without them, or `env` or `skills` of a target that starts no program.

## Example
```text
arms: {fast: {model: small}}, and targets: [{name: default, provider: cli, command: [my-agent]}]
```

## Instead
```text
arms: {fast: {args: [--model, small]}}, and targets: [{name: default, provider: cli, command: [my-agent]}]
```

## Why
The arm would be the same as the one that it is compared with, and the comparison would say that the setting makes
no difference. Skills that cannot be given are only a warning: their tests still run.
"#;
}

/// What has no effect before the target is connected.
pub(super) fn refused_settings(variant: &TargetVariant, target: &Target) -> Vec<Diagnostic> {
    let taken = target.settings.arm_settings();
    let is_refused = |is_set: bool, setting| is_set && !taken.contains(&setting);
    let mut found = Vec::new();
    if is_refused(variant.model.is_some(), ArmSetting::Model) {
        found.push(diagnostic(variant, target, "takes no `model`"));
    }
    if is_refused(!variant.args.is_empty(), ArmSetting::Args) {
        found.push(diagnostic(variant, target, "takes no `args`"));
    }
    let help = |one: Diagnostic| match target.provider.name {
        "cli" if taken.is_empty() => {
            one.help("write `command` of the target as a list, and use `args`")
        }
        "cli" => one.help("use `args`, which are added to `command`"),
        _ => one.help("give the arm a `target` of its own"),
    };
    found.into_iter().map(help).collect()
}

/// What has no effect where no program is started. The arm still runs without the skills.
pub(super) fn settings_of_programs(
    variant: &TargetVariant,
    target: &Target,
    connected: &ConnectedTarget,
) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    if connected.is_process() || variant.arm.is_none() {
        return (Vec::new(), Vec::new());
    }
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    if !variant.env.is_empty() {
        let found = diagnostic(variant, target, "starts no program, so it takes no `env`");
        errors.push(found.help("give the arm a `target` of its own"));
    }
    if variant.skills.as_ref().is_some_and(|skills| !skills.is_empty()) {
        let found = diagnostic(variant, target, "starts no program, so it is given no skills");
        warnings.push(found.level(Level::Warning));
    }
    (errors, warnings)
}

/// At the arm, or at the target if the arm is built in.
fn diagnostic(variant: &TargetVariant, target: &Target, what: &str) -> Diagnostic {
    let name = &target.name;
    let arm = variant.arm.as_deref().unwrap_or_default();
    let message = format!("target `{}` {what} (arm `{arm}`)", name.value);
    Diagnostic::new(&ARM_WITHOUT_EFFECT, variant.place.unwrap_or(name.span), message)
        .level(Level::BlocksRun)
}
