//! Leaves out what the page never calls and the linker cannot know to be dead: Leptos compiles each view a
//! second time for hydration that waits (`hydrate_lazy`), and keeps that by the view's own table of
//! functions. The page is hydrated at once (`hydrate_from`), so these bodies become a trap: should anything
//! ever call one, the page says so at once instead of doing something else.
//!
//! Only the entries of those tables are emptied, and what nothing else calls goes with them. What such an
//! entry calls may not be emptied by its name: the compiler keeps one of several functions that are alike,
//! under any of their names, and some of these are called by the hydration that does happen.

use walrus::ir::{InstrLocId, Unreachable};
use walrus::{FunctionKind, Module};

/// What such entries have in their names, as the compiler writes them: `into_any::hydrate_async`.
const LAZY: &str = "8into_any13hydrate_async";

/// Empties them; answers with how many there were. The names are still in the module.
pub fn leave_out(module: &mut Module) -> usize {
    let is_lazy = |name: &Option<String>| name.as_deref().is_some_and(|name| name.contains(LAZY));
    let mut left_out = 0;
    for function in module.funcs.iter_mut().filter(|function| is_lazy(&function.name)) {
        if let FunctionKind::Local(local) = &mut function.kind {
            let body = local.entry_block();
            local.block_mut(body).instrs = vec![(Unreachable {}.into(), InstrLocId::default())];
            left_out += 1;
        }
    }
    walrus::passes::gc::run(module);
    left_out
}

#[cfg(test)]
mod tests {
    use walrus::FunctionBuilder;

    use super::*;

    #[test]
    fn only_what_is_named_so_becomes_a_trap() {
        let mut module = Module::default();
        for name in ["_ZN8into_any7hydrate", "_ZN4drop8into_any..hydrate_async", "_ZN8into_any13hydrate_async"] {
            let mut builder = FunctionBuilder::new(&mut module.types, &[], &[]);
            builder.name(name.to_owned()).func_body().i32_const(1).drop();
            let id = builder.finish(Vec::new(), &mut module.funcs);
            module.exports.add(name, id);
        }
        assert_eq!(leave_out(&mut module), 1);
        let mut sizes: Vec<_> = module.funcs.iter_local().map(|(_, local)| local.size()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(sizes, [2, 2, 1]);
    }
}
