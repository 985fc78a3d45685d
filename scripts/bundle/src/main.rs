//! Turns the compiled frontend into the folder that the browser loads from: JavaScript bindings and
//! shrunk wasm, one stylesheet, static files, each with its `.br` and `.gz` beside it. It reads and
//! writes files only; what to build and when is the scripts' business.
//!
//! `lazy` leaves out what is never called, `bindings` makes the wasm and its JavaScript, `stylesheet`
//! joins the CSS, `precompress` adds the compressed copies. The new folder replaces the old one in whole,
//! so that a running server never serves the JavaScript of one build with the wasm of another.

mod bindings;
mod lazy;
mod precompress;
mod stylesheet;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::Parser;

/// Turns the compiled frontend into the folder that the browser loads from.
#[derive(Parser)]
struct Arguments {
    /// The frontend as cargo compiled it for wasm32-unknown-unknown.
    #[arg(long)]
    wasm: PathBuf,
    /// The name of the files in `pkg`, without their endings.
    #[arg(long, default_value = "aegis")]
    name: String,
    /// The stylesheet at which the imports begin.
    #[arg(long)]
    style: PathBuf,
    /// A folder whose files are served from `/`; it may be missing.
    #[arg(long)]
    assets: PathBuf,
    /// The folder to write.
    #[arg(long)]
    out: PathBuf,
    /// Binaryen's wasm-opt; without it the wasm is larger, and works as well.
    #[arg(long)]
    wasm_opt: Option<PathBuf>,
}

#[allow(clippy::print_stdout)] // The sizes are what whoever runs this wants to know.
fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let fresh = arguments.out.with_extension("new");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).with_context(|| format!("remove {}", fresh.display()))?;
    }
    let pkg = fresh.join("pkg");
    fs::create_dir_all(&pkg).with_context(|| format!("create {}", pkg.display()))?;

    let wasm = bindings::write(&arguments.wasm, &arguments.name, &pkg)?;
    if let Some(wasm_opt) = &arguments.wasm_opt {
        // It may refuse what today's compiler writes; the page works without it.
        if let Err(error) = bindings::shrink(wasm_opt, &wasm) {
            println!("   going on with the larger wasm: {error:#}");
        }
    }
    let css = stylesheet::join(&arguments.style)?;
    fs::write(pkg.join(format!("{}.css", arguments.name)), css).context("write the stylesheet")?;
    if arguments.assets.is_dir() {
        copy_files(&arguments.assets, &fresh)?;
    }
    for file in precompress::folder(&fresh)? {
        let name = file.path.strip_prefix(&fresh).unwrap_or(&file.path);
        println!("   {:<16} {:>8} bytes, {:>7} as brotli", name.display(), file.bytes, file.brotli_bytes);
    }
    replace(&arguments.out, &fresh)
}

/// Copies a folder's files, and those of the folders in it, to the same places below `to`.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(|| format!("copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Puts the fresh folder where the old one is.
fn replace(out: &Path, fresh: &Path) -> Result<()> {
    let old = out.with_extension("old");
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("remove {}", old.display()))?;
    }
    if out.exists() {
        fs::rename(out, &old).with_context(|| format!("move {} away", out.display()))?;
    }
    fs::rename(fresh, out).with_context(|| format!("move the new files to {}", out.display()))?;
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("remove {}", old.display()))?;
    }
    Ok(())
}
