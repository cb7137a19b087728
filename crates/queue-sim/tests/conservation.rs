//! What holds in every run, whatever fails.

use std::time::Duration;

use proptest::prelude::*;
use queue_sim::{RateLimits, Scenario, Split, Spread, Throttle, simulate};

fn spreads() -> impl Strategy<Value = Spread> {
    prop_oneof![
        Just(Spread::Constant),
        Just(Spread::Exponential),
        Just(Spread::LogNormal(1.0)),
        Just(Spread::Pareto(1.5)),
    ]
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let size = (1u32..12, 1u32..5, 1u32..200, 1u32..4);
    let work =
        (spreads(), 1u64..90, 0u64..20, prop::option::of(1u64..20), prop::option::of(5u64..200));
    let limit = (prop::option::of(20u64..2_000), 0u8..3);
    // Often enough that many cases are delivered twice, and some five times.
    let faults = (prop::option::of(30u64..600), 0.0f64..1.0, 1u64..120, 5u64..60);
    let services = (0u64..200, prop_oneof![Just(0.0), 50.0f64..5_000.0]);
    (any::<u64>(), size, work, limit, faults, services).prop_map(
        |(seed, size, work, (limit, throttle), faults, services)| {
            let mut scenario = Scenario { seed, ..Scenario::default() };
            (scenario.workers, scenario.slots, scenario.cases, scenario.conversation) = size;
            scenario.work.spread = work.0;
            scenario.work.call = Duration::from_secs(work.1);
            scenario.work.checks = Duration::from_secs(work.2);
            scenario.work.judge = work.3.map(Duration::from_secs);
            scenario.work.timeout = work.4.map(Duration::from_secs);
            scenario.faults.mean_time_between = faults.0.map(Duration::from_secs);
            scenario.faults.frozen = faults.1;
            scenario.faults.restart = Duration::from_secs(faults.2);
            scenario.lease.length = Duration::from_secs(faults.3);
            scenario.server.round_trip = Duration::from_millis(services.0);
            scenario.server.operations_per_second = services.1;
            let limits = RateLimits { requests_per_minute: limit, tokens_per_minute: None };
            scenario.limits = limits;
            scenario.throttle = match throttle {
                0 => Throttle::None,
                _ if limits.is_none() => Throttle::None,
                1 => Throttle::Shared(limits),
                _ => Throttle::Divided(limits),
            };
            scenario
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_case_counts_once_and_repeats_are_paid_by_lost_leases(scenario in scenarios()) {
        let found = simulate(&scenario).unwrap();
        prop_assert_eq!(found.graded + found.errored(), scenario.cases);
        prop_assert!(found.repeated_calls <= u64::from(found.leases_lost), "{}", found);
        prop_assert!(found.calls - found.repeated_calls <= u64::from(scenario.cases));
        let shares = found.busy_share + found.waiting_share + found.wasted_share + found.idle_share;
        prop_assert!(shares <= 1.0 + 1e-6 || scenario.faults.frozen > 0.0, "{}", found);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers(scenario in scenarios()) {
        prop_assert_eq!(simulate(&scenario).unwrap(), simulate(&scenario).unwrap());
    }

    #[test]
    fn without_faults_nothing_is_lost_or_repeated(mut scenario in scenarios()) {
        scenario.faults.mean_time_between = None;
        scenario.server.operations_per_second = 0.0;
        // Longer than a way to the server, so that no lease ends under way.
        scenario.lease.length = Duration::from_secs(30);
        let found = simulate(&scenario).unwrap();
        prop_assert_eq!(
            (found.leases_lost, found.repeated_calls, found.duplicate_rows, found.lost_cases),
            (0, 0, 0, 0)
        );
    }

    #[test]
    fn shards_lose_nothing_either(mut scenario in scenarios()) {
        scenario.split = Split::Shards;
        scenario.work.timeout = Some(Duration::from_secs(60));
        let found = simulate(&scenario).unwrap();
        prop_assert_eq!(found.graded + found.errored(), scenario.cases);
        prop_assert_eq!((found.lost_cases, found.duplicate_rows), (0, 0));
        prop_assert!(found.repeated_calls <= u64::from(found.leases_lost));
    }

    /// A provider that lets pass more at once than the bucket does never refuses.
    #[test]
    fn workers_that_share_a_limit_are_not_refused(mut scenario in scenarios(), limit in 20u64..2_000) {
        scenario = scenario.with_shared_limits(RateLimits::requests(limit));
        scenario.faults.mean_time_between = None;
        scenario.faults.planned.clear();
        let found = simulate(&scenario).unwrap();
        prop_assert_eq!((found.refused_requests, found.refused_cases), (0, 0));
    }
}

#[test]
fn a_thousand_workers_and_a_hundred_thousand_cases() {
    let mut scenario = Scenario { workers: 1_000, cases: 100_000, ..Scenario::default() }
        .with_shared_limits(RateLimits::requests(6_000));
    scenario.faults.mean_time_between = Some(Duration::from_secs(4 * 3_600));
    scenario.faults.frozen = 0.2;
    let found = simulate(&scenario).unwrap();
    assert_eq!(found.graded + found.errored(), 100_000);
    assert!(found.leases_lost > 0 && found.repeated_calls > 0, "{found}");
    assert!(found.repeated_calls <= u64::from(found.leases_lost));
}
