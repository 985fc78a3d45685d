//! The WASM entry.
