//! Work that nobody waits for: what the writer and the clusterer derive. Its threads have a lower priority than those that
//! answer questions, so that a flood of records takes the processor only while no question wants it.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Added to the niceness of a thread, 0 to 19: at 10 it gets about a tenth of what a thread that answers gets beside it.
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
                "no threads of their own for work in the background"
            );
        })
        .ok()
});

/// Runs work that takes the processor for long on a thread of low priority, at most as many at a time as there are cores. As
/// with [`tokio::task::spawn_blocking`], work that has begun is not cancelled.
pub fn background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
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
    async fn its_threads_give_way_to_others() {
        let niceness = || getpriority_process(Some(gettid())).unwrap();
        let own = niceness();
        assert_eq!(background(niceness).await.unwrap(), NICENESS);
        assert_eq!(tokio::task::spawn_blocking(niceness).await.unwrap(), own);
    }
}
