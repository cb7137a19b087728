//! Takes the rows of a run until every case has one, or the run ends for another reason: a limit, a
//! signal, rounds that have a verdict, or someone who cancels or removes it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull;
use evalrig_core::model::FaultKind;
use futures_util::StreamExt as _;

use crate::event::Event;
use crate::execute::{CollectionEnd, RowIntake};
use crate::results::CaseKey;

use super::contact::WorkerContact;
use super::control_state::ControlState;
use super::coordinator::{Coordinator, ServerAnswer};
use super::open_cases::OpenCases;
use super::waiting::{ClassWatch, WorkerWatch};

/// Between two looks at limits and signals.
const TICK: Duration = Duration::from_millis(200);

/// Between two questions whether someone else has ended the run.
const QUESTION: Duration = Duration::from_secs(1);

/// How often in a row the server must have nothing before cases count as lost.
const EMPTY_LOOKS: u32 = 3;

/// How often the server is asked to store something: that this process takes rows.
const SIGN: Duration = Duration::from_secs(5);

/// Between two attempts to read rows while the server cannot be reached.
const PAUSE: Duration = Duration::from_millis(500);

/// Longest time without a row before the consumer is made again, should it have been lost.
const SILENCE: Duration = Duration::from_secs(30);

pub(super) struct Collection<'a> {
    coordinator: &'a mut Coordinator,
    intake: &'a RowIntake,
    open: OpenCases,
    /// Cases with a row on the server.
    seen: HashSet<CaseKey>,
    workers: WorkerWatch,
    classes: ClassWatch,
    rows: Option<pull::Ordered>,
    /// Sequence of the next row.
    next: u64,
    last_message: Instant,
    /// The row that the server could not give, by the sequence after it, and since when.
    unread: Option<(u64, Instant)>,
    /// Since when no case is started any more.
    stopped: Option<Instant>,
    /// Why, if others have decided it.
    stopped_elsewhere: Option<String>,
    last_question: Instant,
    last_probe: Option<Instant>,
    contact: WorkerContact,
    /// Whether there was a connection at the last look.
    was_connected: bool,
    /// Whether the server stored nothing when it was last asked to.
    is_full: bool,
    /// Questions in a row to which the server had nothing.
    empty: u32,
}

impl<'a> Collection<'a> {
    pub(super) fn new(coordinator: &'a mut Coordinator, intake: &'a RowIntake) -> Self {
        let mut open = OpenCases::new(intake.cases());
        if coordinator.is_in_rounds() {
            open.await_rounds();
        }
        Self {
            intake,
            open,
            seen: HashSet::new(),
            workers: WorkerWatch::new(&coordinator.queue),
            classes: coordinator.watch_classes(),
            coordinator,
            rows: None,
            next: 1,
            last_message: Instant::now(),
            unread: None,
            stopped: None,
            stopped_elsewhere: None,
            last_question: Instant::now(),
            last_probe: None,
            contact: WorkerContact::new(Instant::now()),
            was_connected: true,
            is_full: false,
            empty: 0,
        }
    }

    pub(super) async fn run(mut self) -> CollectionEnd {
        let mut last_look = Instant::now();
        let mut end = CollectionEnd::Collected;
        while !self.open.is_empty() {
            if !self.open.has_due() && !self.is_stopped() && !self.begin_round().await {
                self.coordinator.put_state(ControlState::Stopped).await;
                if self.intake.open_round().is_none() {
                    end = CollectionEnd::Settled;
                }
                break;
            }
            self.receive().await;
            if last_look.elapsed() < TICK {
                continue;
            }
            last_look = Instant::now();
            if self.is_over().await {
                break;
            }
        }
        if let Some(reason) = self.stopped_elsewhere.take()
            && !self.open.is_empty()
            && !self.intake.is_stopped()
        {
            self.intake.end_elsewhere(reason);
        }
        self.workers.end(self.intake);
        self.end().await;
        end
    }

    fn is_stopped(&self) -> bool {
        self.stopped.is_some() || self.intake.is_stopped()
    }

    /// Sends the cases of the next round. False if no further round is needed.
    async fn begin_round(&mut self) -> bool {
        self.intake.wait_until_reported().await;
        if self.intake.is_stopped() {
            return true;
        }
        let begun = self.open.round();
        let Some(round) = self.intake.open_round().filter(|round| *round > begun) else {
            return false;
        };
        match self.coordinator.send_rounds(round).await {
            Ok(()) => self.open.begin_round(round),
            Err(error) => self.intake.break_off(error.to_string()),
        }
        // Patience begins when the cases are on the server.
        self.classes = self.coordinator.watch_classes();
        true
    }

    /// Waits a little for a row.
    async fn receive(&mut self) {
        if self.rows.is_none() {
            self.rows = self.coordinator.open_rows(self.next).await;
            self.last_message = Instant::now();
        }
        let received = match &mut self.rows {
            Some(stream) => tokio::time::timeout(TICK, stream.next()).await,
            None => {
                tokio::time::sleep(PAUSE).await;
                Ok(None)
            }
        };
        match received {
            Ok(Some(Ok(message))) => {
                self.last_message = Instant::now();
                self.take(&message).await;
            }
            Ok(Some(Err(_)) | None) => self.rows = None,
            Err(_) if self.last_message.elapsed() > SILENCE => self.rows = None,
            Err(_) => {}
        }
    }

    /// Goes on to the next row only if this one was read: its worker has ended the case.
    async fn take(&mut self, message: &Message) {
        let next = message.info().map_or(self.next, |info| info.stream_sequence + 1);
        let (open, seen) = (&mut self.open, &mut self.seen);
        let taken = self.coordinator.take_row(self.intake, message, open, seen).await;
        let Err(reason) = taken else {
            (self.next, self.unread) = (next, None);
            return;
        };
        let (at, since) = self.unread.filter(|(at, _)| *at == next).unwrap_or_else(|| {
            self.intake.tell(Event::Warning(format!(
                "a row cannot be read from the server, trying again: {reason}"
            )));
            (next, Instant::now())
        });
        if since.elapsed() > self.coordinator.queue.patience() && self.coordinator.is_connected() {
            self.coordinator.refuse(self.intake, &reason);
            (self.next, self.unread) = (next, None);
            return;
        }
        self.unread = Some((at, since));
        self.rows = None;
        tokio::time::sleep(PAUSE).await;
    }

    /// Looks at everything that may end the run or a part of it.
    async fn is_over(&mut self) -> bool {
        self.workers.look(self.intake).await;
        self.classes.served(self.workers.classes());
        self.try_server().await;
        self.give_up_unserved().await;
        if self.is_left() {
            return true;
        }
        if self.intake.cancel().is_asked_twice() {
            self.coordinator.put_state(ControlState::Abandoned).await;
            return true;
        }
        match self.stopped {
            None if self.intake.is_stopped() => {
                self.coordinator.put_state(ControlState::Stopped).await;
                self.stopped = Some(Instant::now());
                false
            }
            None if self.last_question.elapsed() < QUESTION => false,
            None => self.ask_server().await,
            Some(since) => self.has_stopped(since).await,
        }
    }

    /// Whether the user has asked a process to end that only follows the run.
    fn is_left(&self) -> bool {
        let is_asked = self.intake.cancel().is_asked();
        self.coordinator.is_follower() && is_asked && self.stopped.is_none()
    }

    /// Tells the user when the server is away, or stores nothing. Cases do not lose patience meanwhile: signs of
    /// workers do not come then.
    async fn try_server(&mut self) {
        let is_connected = self.coordinator.is_connected();
        if is_connected && !self.was_connected {
            self.workers.watch_again();
        } else if !is_connected && self.was_connected {
            let text = "the connection to the server is lost; cases wait until it is back";
            self.intake.tell(Event::Warning(text.to_owned()));
        }
        self.was_connected = is_connected;
        if is_connected && self.last_probe.is_none_or(|at| at.elapsed() >= SIGN) {
            self.last_probe = Some(Instant::now());
            let stored = self.coordinator.try_store().await;
            if let (false, Err(reason)) = (self.is_full, &stored) {
                let text = format!("the server stores no rows, waiting until it does: {reason}");
                self.intake.tell(Event::Warning(text));
            }
            self.is_full = stored.is_err();
        }
        let is_reachable = self.coordinator.is_connected() && !self.is_full;
        if !self.contact.has_heard_all(Instant::now(), is_reachable) {
            self.classes.wait();
        }
    }

    /// Asks whether someone else has ended the run, and whether cases were lost. True if it is gone.
    async fn ask_server(&mut self) -> bool {
        self.last_question = Instant::now();
        match self.coordinator.ask_server().await {
            ServerAnswer::Stopped(state) => {
                let run = self.coordinator.name().as_str();
                self.stopped = Some(Instant::now());
                self.stopped_elsewhere = Some(match state {
                    ControlState::Cancelled => format!("run {run} was cancelled"),
                    _ => format!(
                        "run {run} was stopped by another process; continue it with `evalrig run --resume`"
                    ),
                });
            }
            ServerAnswer::Removed => {
                let run = self.coordinator.name().as_str();
                self.intake.end_elsewhere(format!("run {run} was removed from the server"));
                return true;
            }
            ServerAnswer::GoesOn => {}
        }
        let is_empty = self.coordinator.has_nothing(self.next).await;
        self.empty = if is_empty { self.empty + 1 } else { 0 };
        if self.empty >= EMPTY_LOOKS {
            self.empty = 0;
            self.give_up_lost().await;
        }
        false
    }

    /// Whether no worker runs a case any more. What a dead worker had is never acknowledged, nor what was
    /// given back.
    async fn has_stopped(&mut self, since: Instant) -> bool {
        let lease = self.coordinator.queue.lease();
        let is_idle = self.workers.are_idle() && since.elapsed() > lease;
        (self.workers.have_stopped() || is_idle || self.coordinator.has_no_leases().await)
            && self.coordinator.has_read_all(self.next).await
    }

    async fn give_up_unserved(&mut self) {
        for class in self.classes.take_unserved() {
            let Some(unserved) = self.coordinator.class(class) else { continue };
            let patience = self.coordinator.queue.patience().as_secs();
            let message =
                format!("no worker could run a case on {} for {patience} s", unserved.name);
            let cases = self.coordinator.cases_of(class, &self.open);
            if cases.is_empty() {
                continue;
            }
            self.coordinator.purge_class(class).await;
            for key in cases {
                let Some(at) = self.open.remove(&key) else { continue };
                self.intake.give_up(at, FaultKind::NoWorker, message.clone()).await;
            }
        }
    }

    /// Cases whose messages are gone without a row: no worker knew them.
    async fn give_up_lost(&mut self) {
        for at in self.open.take_due() {
            let message = "the case is no longer on the server and has no row".to_owned();
            self.intake.give_up(at, FaultKind::LostWorker, message).await;
        }
    }

    /// Ends what is left of the cases, if a limit was reached.
    async fn end(self) {
        if self.coordinator.duplicates > 0 {
            let text = match self.coordinator.duplicates {
                1 => "1 case got a second row; the first one counts".to_owned(),
                count => format!("{count} rows came again; the first one of each case counts"),
            };
            self.intake.tell(Event::Warning(text));
        }
        let Some(reached) = self.intake.limit_with_rows() else { return };
        for at in self.open.into_rest() {
            self.intake.leave_out(at, &reached.reason).await;
        }
    }
}
