//! Runs whose end can be computed by hand.

use std::time::Duration;

use queue_sim::{
    Bounds, PlannedFault, Prediction, RateLimits, Scenario, Split, Spread, Throttle, WorkerFault,
    simulate,
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Equal calls of a minute, one slot per worker.
fn scenario(workers: u32, cases: u32) -> Scenario {
    let mut scenario = Scenario { workers, slots: 1, cases, ..Scenario::default() };
    scenario.work.spread = Spread::Constant;
    scenario
}

fn run(scenario: &Scenario) -> Prediction {
    simulate(scenario).unwrap()
}

fn fault(worker: u32, at: u64, kind: WorkerFault) -> PlannedFault {
    PlannedFault { worker, at: seconds(at), kind }
}

#[test]
fn one_worker_runs_one_case_after_another() {
    let found = run(&scenario(1, 7));
    assert_eq!(found.makespan, 420.0);
    assert_eq!((found.calls, found.graded, found.busy_share), (7, 7, 1.0));
}

#[test]
fn equal_cases_run_in_rounds() {
    for (workers, slots, cases, rounds) in
        [(4, 1, 8, 2), (4, 1, 9, 3), (3, 5, 100, 7), (50, 2, 7, 1)]
    {
        let found = run(&Scenario { slots, ..scenario(workers, cases) });
        assert_eq!(found.makespan, 60.0 * f64::from(rounds), "{workers} × {slots}, {cases}");
        let busy = f64::from(cases) / f64::from(workers * slots * rounds);
        assert!((found.busy_share - busy).abs() < 1e-9);
        assert!((found.idle_share - (1.0 - busy)).abs() < 1e-9);
    }
}

#[test]
fn a_limit_on_requests_decides_when_there_are_slots_enough() {
    let limits = RateLimits::requests(600);
    let found = run(&scenario(1_000, 6_000).with_shared_limits(limits));
    // The last request leaves after ten minutes and takes one.
    assert!((found.makespan - 660.0).abs() < 2.0, "{}", found.makespan);
    assert_eq!(found.refused_requests, 0);
    assert!(found.busiest_minute.unwrap() <= 1.02, "{found}");
}

#[test]
fn below_the_limit_the_limit_changes_nothing() {
    let free = run(&scenario(100, 1_000));
    let limited = run(&scenario(100, 1_000).with_shared_limits(RateLimits::requests(6_000)));
    // The first hundred are spread over the first second.
    assert!((limited.makespan - free.makespan).abs() <= 1.0, "{}", limited.makespan);
}

#[test]
fn a_limit_on_tokens_decides_too() {
    let limits = RateLimits { requests_per_minute: None, tokens_per_minute: Some(600_000) };
    let mut scenario = scenario(1_000, 6_000).with_shared_limits(limits);
    scenario.work.tokens = 1_000;
    let found = run(&scenario);
    // 6,000,000 tokens are ten minutes of the limit.
    assert!((found.makespan / 660.0 - 1.0).abs() < 0.05, "{found}");
}

#[test]
fn a_judge_takes_its_share_of_the_limit() {
    let mut scenario = scenario(1_000, 3_000).with_shared_limits(RateLimits::requests(600));
    scenario.work.judge = Some(seconds(5));
    let found = run(&scenario);
    assert!((found.makespan / 605.0 - 1.0).abs() < 0.1, "{found}");
    assert_eq!(found.calls, 3_000);
}

#[test]
fn a_killed_worker_costs_the_rest_of_its_lease_and_the_case_again() {
    let mut scenario = scenario(1, 1);
    scenario.faults.restart = seconds(10);
    scenario.faults.planned = vec![fault(0, 25, WorkerFault::Killed)];
    let found = run(&scenario);
    // Renewed at 10 and 20, so the lease ends at 50.
    assert_eq!(found.makespan, 110.0);
    assert_eq!((found.leases_lost, found.calls, found.repeated_calls), (1, 2, 1));
    assert_eq!((found.graded, found.duplicate_rows), (1, 0));
    assert!((found.wasted_share - 25.0 / 110.0).abs() < 1e-9, "{found}");
}

#[test]
fn another_worker_takes_over_while_the_first_is_away() {
    let mut scenario = scenario(2, 1);
    scenario.faults.restart = seconds(10_000);
    scenario.faults.planned = vec![fault(0, 25, WorkerFault::Killed)];
    // The two workers renew at different times: the first at 5, 15, 25 …; the fault comes first.
    assert_eq!(run(&scenario).makespan, 45.0 + 60.0);
}

#[test]
fn a_stored_answer_is_graded_without_a_second_call() {
    let mut scenario = scenario(1, 1);
    scenario.work.checks = seconds(100);
    scenario.faults.planned = vec![fault(0, 95, WorkerFault::Killed)];
    let found = run(&scenario);
    assert_eq!((found.leases_lost, found.calls, found.repeated_calls), (1, 1, 0));
    // Back at 155, the lease has ended at 120, and the checks start again.
    assert_eq!(found.makespan, 255.0);
}

#[test]
fn a_worker_that_continues_after_its_lease_sends_a_row_that_does_not_count() {
    let mut scenario = scenario(2, 2);
    scenario.work.measured = vec![seconds(60), seconds(200)];
    scenario.slots = 2;
    scenario.faults.restart = seconds(50);
    scenario.faults.planned = vec![fault(0, 4, WorkerFault::Frozen)];
    let found = run(&scenario);
    // Both cases were on the first worker. It continues at 54 and answers first.
    assert_eq!((found.leases_lost, found.calls, found.repeated_calls), (2, 4, 2));
    assert_eq!((found.graded, found.duplicate_rows), (2, 1));
    assert_eq!(found.makespan, 200.0);
}

#[test]
fn a_case_that_outlives_every_worker_is_given_up() {
    let mut scenario = scenario(1, 1);
    scenario.faults.restart = seconds(1);
    scenario.faults.planned =
        (0..10).map(|number| fault(0, 10 + 60 * number, WorkerFault::Killed)).collect();
    let found = run(&scenario);
    assert_eq!((found.graded, found.lost_cases, found.leases_lost), (0, 1, 6));
}

#[test]
fn conversations_stay_in_order() {
    let found = run(&Scenario { conversation: 3, ..scenario(4, 6) });
    assert_eq!(found.makespan, 180.0);
    assert_eq!(found.busy_share, 0.5);
}

#[test]
fn a_conversation_continues_after_its_last_stored_row() {
    let mut scenario = Scenario { conversation: 3, ..scenario(1, 3) };
    scenario.faults.restart = seconds(1);
    scenario.faults.planned = vec![fault(0, 75, WorkerFault::Killed)];
    let found = run(&scenario);
    // The second case starts again when the lease of 70 has ended.
    assert_eq!(found.makespan, 100.0 + 120.0);
    assert_eq!((found.calls, found.repeated_calls), (4, 1));
}

#[test]
fn shards_are_rounds_of_their_own() {
    let shards = Scenario { split: Split::Shards, ..scenario(4, 9) };
    assert_eq!(run(&shards).makespan, 180.0);
    let mut killed = shards;
    killed.faults.planned = vec![fault(0, 130, WorkerFault::Killed)];
    // The third case of the first machine starts again after a minute.
    assert_eq!(run(&killed).makespan, 190.0 + 60.0);
}

#[test]
fn a_slow_case_holds_up_the_rest_of_its_shard() {
    let mut queued = scenario(4, 16);
    let mut measured = vec![seconds(60); 16];
    measured[0] = seconds(240);
    queued.work.measured = measured;
    assert_eq!(run(&queued).makespan, 300.0);
    assert_eq!(run(&Scenario { split: Split::Shards, ..queued }).makespan, 420.0);
}

#[test]
fn rows_are_written_at_the_speed_of_the_coordinator() {
    let mut scenario = scenario(100, 100);
    scenario.coordinator.rows_per_second = 10.0;
    assert_eq!(run(&scenario).makespan, 70.0);
    scenario.coordinator.outages = vec![(seconds(30), seconds(1_000))];
    let found = run(&scenario);
    // Nothing is asked again because the coordinator was away.
    assert_eq!((found.makespan, found.calls, found.leases_lost), (1_010.0, 100, 0));
}

#[test]
fn a_shared_bucket_gives_one_permit_per_round_trip() {
    let mut scenario = scenario(1_000, 1_000).with_shared_limits(RateLimits::requests(60_000));
    scenario.server.round_trip = Duration::from_millis(20);
    let found = run(&scenario);
    assert!((found.makespan / (20.0 + 60.0) - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn a_busy_server_delays_everything() {
    let mut scenario = scenario(1_000, 1_000);
    scenario.work.call = Duration::from_millis(1);
    scenario.server.operations_per_second = 100.0;
    // Delivery, answer, row and acknowledgement; no renewals.
    scenario.lease.length = seconds(600);
    assert!((run(&scenario).makespan / 40.0 - 1.0).abs() < 0.1);
}

#[test]
fn the_processor_is_shared_by_the_workers_of_a_host() {
    let mut scenario = Scenario { workers_per_host: 8, cores: 2, ..scenario(8, 80) };
    scenario.work.cpu = seconds(60);
    // 4,800 s of work on two cores, and the last call.
    assert_eq!(run(&scenario).makespan, 2_460.0);
}

#[test]
fn workers_that_do_not_share_a_limit_lose_cases() {
    let limits = RateLimits::requests(60);
    let apart = run(&Scenario { limits, ..scenario(200, 1_000) });
    assert!(apart.refused_cases > 0, "{apart}");
    assert_eq!(apart.graded + apart.refused_cases, 1_000);
    let shared = run(&scenario(200, 1_000).with_shared_limits(limits));
    assert_eq!((shared.refused_cases, shared.refused_requests), (0, 0));
    let throttle = Throttle::Divided(limits);
    let divided = run(&Scenario { limits, throttle, ..scenario(20, 200) });
    assert_eq!((divided.refused_cases, divided.graded), (0, 200));
}

#[test]
fn a_timeout_ends_a_call() {
    let mut scenario = scenario(1, 3);
    scenario.work.timeout = Some(seconds(40));
    let found = run(&scenario);
    assert_eq!((found.timed_out, found.graded, found.makespan), (3, 0, 120.0));
}

#[test]
fn workers_may_start_one_after_another() {
    let found = run(&Scenario { ramp: seconds(40), ..scenario(4, 4) });
    // The first worker is free again after the last one has started.
    assert_eq!(found.makespan, 90.0);
}

#[test]
fn the_bounds_are_what_is_simulated_when_nothing_interferes() {
    for (workers, limit) in [(1, 600), (10, 600), (100, 600), (1_000, 600), (1_000, 6_000)] {
        let scenario = Scenario { slots: 4, ..scenario(workers, 24_000) };
        let scenario = scenario.with_shared_limits(RateLimits::requests(limit));
        let (found, bounds) = (run(&scenario).makespan, Bounds::of(&scenario).makespan());
        let end = 61.0;
        assert!(found >= bounds - 1.0 && found <= bounds + end, "{workers}: {found} {bounds}");
    }
}
