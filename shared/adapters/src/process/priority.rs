//! The priority of threads whose work nobody should notice.

/// Adds `niceness`, 0 to 19, to that of this thread where the system has one for each thread; elsewhere all stay equal.
pub fn lower_priority(niceness: i32) {
    #[cfg(target_os = "linux")]
    {
        // A thread's id in the place of a process's: on Linux each thread has its own priority.
        let outcome = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
        if let Err(error) = outcome {
            tracing::debug!(error = &error as &dyn std::error::Error, "a thread has no low priority");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}
