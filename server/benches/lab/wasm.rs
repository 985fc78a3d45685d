//! How much a browser loads before the page comes to life.

use std::fs;
use std::path::PathBuf;

use crate::Failure;
use crate::table::Figure;

const LIMIT_BYTES: u64 = 300_000;

pub async fn measure() -> Result<Vec<Figure>, Failure> {
    let site = std::env::var_os("AEGIS_SITE").ok_or("AEGIS_SITE does not say where the page is")?;
    let file = PathBuf::from(site).join("pkg/aegis.wasm.br");
    let bytes = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    Ok(vec![Figure {
        what: "wasm, as it is sent".to_owned(),
        measured: format!("{:.0} kB", bytes as f64 / 1000.0),
        limit: Some("300 kB"),
        over: bytes >= LIMIT_BYTES,
        how: "size of the file that was compressed with brotli".to_owned(),
    }])
}
