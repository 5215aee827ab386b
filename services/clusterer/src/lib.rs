//! clusterer
