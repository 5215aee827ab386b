//! Background work that no request waits for: the derivations of writer and clusterer. Its threads have a lower
//! priority than threads that answer questions, so a flood of records only uses the processor while no question needs
//! it.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Added to the niceness of a thread, 0 to 19. At 10, a thread gets about a tenth of the processor time of a competing
/// thread that answers questions.
const NICENESS: i32 = 10;

static RUNTIME: LazyLock<Option<Runtime>> = LazyLock::new(|| {
    let threads = available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_current_thread()
        .thread_name("mnemic-background")
        .max_blocking_threads(threads)
        .on_thread_start(|| adapters::lower_priority(NICENESS))
        .build();
    runtime
        .inspect_err(|error| {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "cannot start threads for background work; the shared threads are used"
            );
        })
        .ok()
});

/// Runs CPU-bound work on a thread of low priority; at most as many run at a time as there are cores. As with
/// [`tokio::task::spawn_blocking`], work that has begun cannot be cancelled.
pub fn spawn_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    match &*RUNTIME {
        Some(runtime) => runtime.spawn_blocking(work),
        None => tokio::task::spawn_blocking(work),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;
    use rustix::thread::gettid;

    use super::*;

    #[tokio::test]
    async fn background_threads_have_a_lower_priority() {
        let niceness = || getpriority_process(Some(gettid())).unwrap();
        let own = niceness();
        assert_eq!(spawn_background(niceness).await.unwrap(), NICENESS);
        assert_eq!(tokio::task::spawn_blocking(niceness).await.unwrap(), own);
    }
}
