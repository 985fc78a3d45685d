//! A replica: one scheduler process. It binds the catalog to timers by itself, on its own clock, and
//! performs what its strategy says. It knows nothing of the other replicas, the log or the judge.

pub mod control;
