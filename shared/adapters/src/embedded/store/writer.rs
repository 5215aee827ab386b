//! Group commit: the waiting jobs that must survive a loss of power run in one transaction, each in a savepoint, and are
//! answered after the commit, so that they share one flush. Any other job has a transaction of its own.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread::JoinHandle;

use domain::ErrorKind;
use rusqlite::Connection;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use super::failure::{Failure, Outcome};
use super::lock::Lock;
use super::page_scrubber::Scrubber;
use super::write_ahead_log::{Log, Request};

/// Maximum number of jobs in the queue; further callers wait until there is room.
const WAITING_MAX: usize = 1_024;
/// Maximum number of jobs in one transaction, so that no job waits too long for its commit.
const GROUP_MAX: usize = 256;

/// Added to the niceness of the thread, 0 to 19. At 10, it gets about a tenth of the processor time of a competing
/// thread that answers. In a flood of records, the records then wait for their commits, and questions do not.
const NICENESS: i32 = 10;

/// Which failure a commit must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A loss of power: for everything that was acknowledged as safe to a caller.
    Power,
    /// The end of the process. A loss of power may undo the commit, but then also everything that was committed later.
    /// Enough for work that a redelivered message repeats.
    Process,
}

/// The only thread that writes.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    log: Request,
}

struct Job {
    durability: Durability,
    work: Box<dyn Work>,
}

trait Work: Send {
    /// Runs the job. Returns false if what it wrote must be rolled back.
    fn run_job(&mut self, connection: &Connection) -> bool;
    /// Answers after the commit; with an error if there is one in `prevented`.
    fn answer_caller(self: Box<Self>, prevented: Option<&Failure>);
}

struct Task<T, F, A> {
    job: Option<F>,
    then: A,
    outcome: Outcome<T>,
    reply: oneshot::Sender<Outcome<T>>,
}

impl Writer {
    /// Starts the thread, which keeps `lock` until it has closed the file.
    pub(super) fn start_thread(connection: Connection, path: &Path, lock: Lock) -> std::io::Result<Writer> {
        let (jobs, waiting) = mpsc::channel(WAITING_MAX);
        let log = Request::default();
        // Data that was erased just before a crash is still in the log.
        log.request_emptying();
        let log_of_thread = Log::new(log.clone(), Scrubber::open(path)?);
        let run = move || {
            crate::lower_priority(NICENESS);
            serve_jobs(connection, waiting, log_of_thread);
            drop(lock);
        };
        let thread = std::thread::Builder::new()
            .name("mnemic-writer".to_owned())
            .spawn(run)?;
        Ok(Writer {
            jobs: Some(jobs),
            thread: Some(thread),
            log,
        })
    }

    /// Returns a handle for requesting that the write-ahead log be emptied.
    pub(super) fn log_handle(&self) -> Request {
        self.log.clone()
    }

    pub(super) async fn submit_job<T, F, A>(&self, durability: Durability, job: F, then: A) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        A: FnOnce(&T) + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let work = Box::new(Task {
            job: Some(job),
            then,
            outcome: Err(closed_failure()),
            reply,
        });
        let jobs = self.jobs.as_ref().ok_or_else(closed_failure)?;
        jobs.send(Job { durability, work })
            .await
            .map_err(|_| closed_failure())?;
        answer.await.unwrap_or_else(|_| Err(closed_failure()))
    }
}

impl Drop for Writer {
    /// Waits until all accepted jobs are done and the file is closed, so that the directory can be opened again at
    /// once.
    fn drop(&mut self) {
        self.jobs = None;
        let Some(thread) = self.thread.take() else { return };
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("the writer has panicked");
        }
    }
}

impl<T, F, A> Work for Task<T, F, A>
where
    T: Send,
    F: FnOnce(&Connection) -> Outcome<T> + Send,
    A: FnOnce(&T) + Send,
{
    fn run_job(&mut self, connection: &Connection) -> bool {
        let Some(job) = self.job.take() else { return false };
        let panicked = |_| {
            Err(Failure::Refused(
                ErrorKind::Internal,
                "a job of the writer panicked".to_owned(),
            ))
        };
        self.outcome = catch_unwind(AssertUnwindSafe(|| job(connection))).unwrap_or_else(panicked);
        self.outcome.is_ok()
    }

    fn answer_caller(self: Box<Self>, prevented: Option<&Failure>) {
        let Task {
            outcome, then, reply, ..
        } = *self;
        let outcome = match (outcome, prevented) {
            (Ok(_), Some(failure)) => Err(failure.copy_failure()),
            (outcome, _) => outcome,
        };
        // `then` may hold the store. It is dropped before the answer, so that the caller's handle is the last one.
        match &outcome {
            Ok(value) => then(value),
            Err(_) => drop(then),
        }
        // If the caller no longer waits, the result is not needed; the data is in the file.
        drop(reply.send(outcome));
    }
}

fn closed_failure() -> Failure {
    Failure::Refused(ErrorKind::Unavailable, "the store is closed".to_owned())
}

fn serve_jobs(connection: Connection, mut waiting: mpsc::Receiver<Job>, mut log: Log) {
    log.empty_if_requested(&connection);
    while let Some(first) = next_job(&connection, &mut waiting, &mut log) {
        let mut group = VecDeque::from([first]);
        while group.len() < GROUP_MAX {
            let Ok(job) = waiting.try_recv() else { break };
            group.push_back(job);
        }
        while let Some(first) = group.front() {
            let is_alone = group.len() == 1 || first.durability == Durability::Process;
            match is_alone.then(|| group.pop_front()).flatten() {
                Some(job) => commit_alone(&connection, job),
                None => commit_group(&connection, &mut group),
            }
        }
        log.empty_if_requested(&connection);
    }
    // Readers may still be open. If one of them closes last, it leaves the log with recently erased data in place.
    let folded = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    if let Err(error) = folded {
        tracing::warn!(%error, "the log of the store could not be merged into its file");
    }
    if let Err((_, error)) = connection.close() {
        tracing::error!(%error, "the store could not be closed");
    }
}

/// Returns the next job, or `None` when the store is closed. While there is no job, empties the log as soon as its
/// readers are done.
fn next_job(connection: &Connection, waiting: &mut mpsc::Receiver<Job>, log: &mut Log) -> Option<Job> {
    while log.is_pending() {
        match waiting.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => std::thread::park_timeout(log.retry_pause()),
        }
        log.empty_if_requested(connection);
    }
    waiting.blocking_recv()
}

/// Runs a job in a transaction of its own, and answers it. It has no savepoint: in a large job, SQLite would walk through
/// the journal of the savepoint after many statements.
fn commit_alone(connection: &Connection, mut job: Job) {
    let begun = begin_transaction(connection, job.durability == Durability::Power);
    let result = begun.and_then(|()| match job.work.run_job(connection) {
        true => execute_statement(connection, "COMMIT"),
        false => Ok(()),
    });
    let failure = end_transaction(connection, result, 1);
    job.work.answer_caller(failure.as_ref());
}

/// Runs the jobs from the front of the group that must survive a loss of power in one transaction, and answers them. If
/// a job ends the transaction (SQLite does so when the disk is full), the jobs after it stay in the group.
fn commit_group(connection: &Connection, group: &mut VecDeque<Job>) {
    let mut run = Vec::with_capacity(group.len());
    let mut result = begin_transaction(connection, true);
    if result.is_err() {
        run.extend(group.drain(..));
    }
    while result.is_ok()
        && let Some(mut job) = group.pop_front_if(|it| it.durability == Durability::Power)
    {
        result = inside_savepoint(connection, &mut job);
        run.push(job);
    }
    let result = result.and_then(|()| execute_statement(connection, "COMMIT"));
    let failure = end_transaction(connection, result, run.len());
    for job in run {
        job.work.answer_caller(failure.as_ref());
    }
}

fn begin_transaction(connection: &Connection, power: bool) -> rusqlite::Result<()> {
    // Not through the statement cache, because this pragma takes effect when it is compiled.
    connection.execute_batch(if power {
        "PRAGMA synchronous = FULL"
    } else {
        "PRAGMA synchronous = NORMAL"
    })?;
    execute_statement(connection, "BEGIN IMMEDIATE")
}

/// Rolls back a transaction that was not committed. Returns the failure that prevented the commit, if there is one.
fn end_transaction(connection: &Connection, result: rusqlite::Result<()>, jobs: usize) -> Option<Failure> {
    if !connection.is_autocommit() {
        drop(connection.execute_batch("ROLLBACK"));
    }
    let error = result.err()?;
    tracing::error!(%error, jobs, "writes were not committed");
    Some(Failure::Sql(error))
}

/// Runs a job in a savepoint. Returns an error if the transaction cannot continue; a job that merely failed is rolled
/// back alone.
fn inside_savepoint(connection: &Connection, job: &mut Job) -> rusqlite::Result<()> {
    execute_statement(connection, "SAVEPOINT job")?;
    if !job.work.run_job(connection) {
        execute_statement(connection, "ROLLBACK TO job")?;
    }
    execute_statement(connection, "RELEASE job")
}

fn execute_statement(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}
