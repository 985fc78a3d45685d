//! The wasm module with its JavaScript, as `wasm-bindgen --target web` would write them, under the names
//! that the page asks for; then, where there is a wasm-opt, made smaller.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use walrus::Module;
use wasm_bindgen_cli_support::Bindgen;

use crate::lazy;

/// What the Rust compiler itself takes for granted in wasm. wasm-opt refuses a module that uses more
/// than it was told of, and must not be told of more than browsers have.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// What is asked of it. A function that is called once stays a function: put into its caller the module would be
/// smaller, but not as it is sent, for large functions with many locals compress worse (a twelfth of the whole).
/// The first kilobyte of memory is the end of the stack, where nothing has an address that is known.
const SHRINK: [&str; 4] = ["-Oz", "--low-memory-unused", "--one-caller-inline-max-function-size", "0"];

/// Writes `NAME.js` and `NAME.wasm`; answers with the path of the latter.
pub fn write(wasm: &Path, name: &str, pkg: &Path) -> Result<PathBuf> {
    let mut module = Module::from_file(wasm).with_context(|| format!("read {}", wasm.display()))?;
    lazy::leave_out(&mut module);
    let mut bindgen = Bindgen::new();
    bindgen
        .input_module(name, module)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.generate(pkg).with_context(|| format!("make the bindings of {}", wasm.display()))?;
    // wasm-bindgen always adds `_bg`.
    let target = pkg.join(format!("{name}.wasm"));
    fs::rename(pkg.join(format!("{name}_bg.wasm")), &target).context("rename the wasm")?;
    Ok(target)
}

/// Makes the module smaller in place.
pub fn shrink(wasm_opt: &Path, wasm: &Path) -> Result<()> {
    let shrunk = wasm.with_extension("shrunk");
    let status = Command::new(wasm_opt)
        .args(SHRINK)
        .args(FEATURES)
        .arg(wasm)
        .arg("-o")
        .arg(&shrunk)
        .status()
        .with_context(|| format!("start {}", wasm_opt.display()))?;
    ensure!(status.success(), "{} ended with {status}", wasm_opt.display());
    fs::rename(&shrunk, wasm).context("put the shrunk wasm in place")
}
