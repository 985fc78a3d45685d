//! What is drawn, computed from a stage: values and text, no components.

pub mod words;
