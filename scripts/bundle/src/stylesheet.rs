//! Joins the stylesheet: each `@import "file.css";` is replaced by that file, so that the page needs one
//! request. Only this form is understood; any other import is an error rather than a broken page.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// The text of `main` with its imports, and theirs, in place.
pub fn join(main: &Path) -> Result<String> {
    let mut css = String::new();
    append(main, &mut Vec::new(), &mut css)?;
    Ok(css)
}

/// `open` holds the files that are being read, outermost first: importing one of them has no end.
fn append(file: &Path, open: &mut Vec<PathBuf>, css: &mut String) -> Result<()> {
    if open.iter().any(|other| other == file) {
        bail!("{} imports itself", file.display());
    }
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    open.push(file.to_owned());
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("@import") {
            let here = || format!("{}:{}", file.display(), index + 1);
            let name = imported(line).with_context(|| format!("{}: expected @import \"file.css\";", here()))?;
            append(&file.with_file_name(name), open, css).with_context(here)?;
        } else {
            css.push_str(line);
            css.push('\n');
        }
    }
    open.pop();
    Ok(())
}

/// The name in `@import "name";`.
fn imported(line: &str) -> Option<&str> {
    let name = line.trim().strip_prefix("@import")?.trim_start();
    let name = name.strip_prefix('"')?.strip_suffix("\";")?;
    (!name.contains(['"', ':'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn joined(files: &[(&str, &str)]) -> Result<String> {
        join(&folder(files).path().join("main.css"))
    }

    #[test]
    fn imports_stand_where_they_were_written_and_are_relative_to_their_file() {
        let css = joined(&[
            ("main.css", "@import \"tokens.css\";\n@import \"parts/all.css\";\nbody {}\n"),
            ("tokens.css", ":root {}\n"),
            ("parts/all.css", "@import \"card.css\";\n"),
            ("parts/card.css", ".card {}\n"),
        ]);
        assert_eq!(css.unwrap(), ":root {}\n.card {}\nbody {}\n");
    }

    #[test]
    fn an_import_of_another_form_is_an_error_that_names_the_line() {
        let error = joined(&[("main.css", "\n@import url(tokens.css);\n")]).unwrap_err();
        assert!(format!("{error:#}").contains("main.css:2: expected @import"));
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_who_imports_it() {
        let error = joined(&[("main.css", "@import \"none.css\";\n")]).unwrap_err();
        let text = format!("{error:#}");
        assert!(text.contains("main.css:1") && text.contains("none.css"), "{text}");
    }

    #[test]
    fn a_circle_is_an_error() {
        let error = joined(&[("main.css", "@import \"a.css\";\n"), ("a.css", "@import \"main.css\";\n")]);
        assert!(format!("{:#}", error.unwrap_err()).contains("imports itself"));
    }
}
