//! Runs that are over, as the control plane keeps them.

use std::sync::Arc;

use super::log::Log;
use crate::http::problem::ApiError;

/// Stored runs.
#[derive(Clone, Default)]
pub struct Shelf;

impl Shelf {
    /// The log of a stored run.
    pub async fn log(&self, _id: &str) -> Result<Arc<Log>, ApiError> {
        Err(ApiError::NotFound("run"))
    }
    /// That learner's runs, newest first.
    pub async fn list(&self, _owner: &str) -> Result<Vec<app::data::RunLine>, ApiError> {
        Ok(Vec::new())
    }
}
