//! Compressed copies beside each text and wasm file, made once and as small as can be: the server sends
//! them as they are instead of compressing at each request.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use flate2::{Compression, write::GzEncoder};

/// Files of other endings are compressed by nature (images, fonts) and are left alone.
const ENDINGS: [&str; 7] = ["css", "html", "js", "json", "svg", "txt", "wasm"];

/// A file that was compressed.
pub struct Compressed {
    /// The file itself, not its copies.
    pub path: PathBuf,
    /// Its size.
    pub bytes: usize,
    /// The size of its `.br`.
    pub brotli_bytes: usize,
}

/// Writes `.br` and `.gz` beside the files of a folder and of the folders in it.
pub fn folder(folder: &Path) -> Result<Vec<Compressed>> {
    let mut done = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            done.extend(self::folder(&path)?);
        } else if ending.is_some_and(|ending| ENDINGS.contains(&ending)) {
            let compressed = file(&path).with_context(|| format!("compress {}", path.display()))?;
            done.push(compressed);
        }
    }
    Ok(done)
}

fn file(path: &Path) -> Result<Compressed> {
    let content = fs::read(path)?;
    let mut brotli = Vec::new();
    let best = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 22, ..Default::default() };
    brotli::BrotliCompress(&mut content.as_slice(), &mut brotli, &best)?;
    fs::write(beside(path, "br"), &brotli)?;
    let mut gzip = GzEncoder::new(fs::File::create(beside(path, "gz"))?, Compression::best());
    gzip.write_all(&content)?;
    gzip.finish()?;
    Ok(Compressed { path: path.to_owned(), bytes: content.len(), brotli_bytes: brotli.len() })
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn copies_hold_the_same_bytes_and_images_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = "p { margin: 0 }\n".repeat(100);
        fs::create_dir(folder.path().join("pkg")).unwrap();
        fs::write(folder.path().join("pkg/aegis.css"), &text).unwrap();
        fs::write(folder.path().join("icon.png"), [1, 2, 3]).unwrap();

        let done = self::folder(folder.path()).unwrap();

        assert_eq!(done.len(), 1);
        assert!(done[0].brotli_bytes < done[0].bytes);
        let (mut brotli, mut gzip) = (Vec::new(), String::new());
        let copy = fs::read(folder.path().join("pkg/aegis.css.br")).unwrap();
        brotli::BrotliDecompress(&mut copy.as_slice(), &mut brotli).unwrap();
        let copy = fs::File::open(folder.path().join("pkg/aegis.css.gz")).unwrap();
        flate2::read::GzDecoder::new(copy).read_to_string(&mut gzip).unwrap();
        assert_eq!(brotli, text.as_bytes());
        assert_eq!(gzip, text);
        assert!(!folder.path().join("icon.png.br").exists());
    }
}
