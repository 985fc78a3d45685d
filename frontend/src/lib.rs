//! The WASM entry: hydrates what the server rendered, nothing else.

/// Called by the page's script once the module is loaded.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    app::hydrate();
}
