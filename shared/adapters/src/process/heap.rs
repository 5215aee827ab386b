//! How the system's allocator divides the heap.

/// Limits glibc's allocator to one arena for each core, without its lists of small freed parts. Call it before other
/// threads are started.
///
/// By default it makes up to eight arenas for each core, and what is freed in one is not reused in another. Spaces are
/// loaded on many short threads, so the freed parts add up. The lists of small parts are merged whenever a large part is
/// freed, such as a block of units, which took a tenth of the time of a start; each thread still has a list of its own.
/// Other allocators keep their defaults.
pub fn limit_heap_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let arenas = libc::c_int::try_from(cores).unwrap_or(libc::c_int::MAX);
        #[expect(unsafe_code, reason = "glibc has no other interface for it inside a program")]
        // SAFETY: `mallopt` takes two numbers, changes only the settings of the allocator, and locks them itself.
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, arenas);
            libc::mallopt(libc::M_MXFAST, 0);
        }
    }
}

/// Returns freed memory to the system. Call it after much was freed.
///
/// glibc's allocator only does so by itself at the end of the heap, and what was freed between parts in use stays with
/// the process. It looks at all free parts, which takes milliseconds for each gigabyte. Other allocators do nothing
/// here.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "glibc has no other interface for it inside a program")]
        // SAFETY: `malloc_trim` takes a number, touches only free parts, and locks them itself.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}
