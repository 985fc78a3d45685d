//! The pure heart.
