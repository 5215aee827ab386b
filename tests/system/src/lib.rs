//! System tests: the conformance suites of the ports, and (in `tests/it`) tests of the running system.

pub mod conformance;
pub mod encoder;
pub mod injections;
pub mod running;
pub mod servers;
