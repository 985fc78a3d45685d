//! The bank: an external HTTP service with a store of its own, where effects land. It knows nothing of
//! strategies; whether it checks anything at all is up to its guards. It must never deduplicate or
//! repair what no guard told it to.

pub mod wire;
