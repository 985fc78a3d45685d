//! Time to place: linear, but for gaps in which nothing happens, which collapse. Places count from the
//! first thing that is kept, so they stay where they are while the run goes on.

use locks::sorted::Map;

/// Width of a collapsed gap.
pub const GAP: f64 = 44.0;
/// Room before something happens, and after it (for labels), in pixels.
const BEFORE: f64 = 26.0;
const AFTER: f64 = 92.0;

/// One stretch of the scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// From, in microseconds.
    pub from_us: u64,
    /// To; the last piece goes on.
    pub to_us: u64,
    /// Where it begins.
    pub x: f64,
    /// Where it ends.
    pub x_to: f64,
    /// A collapsed gap.
    pub gap: bool,
}

/// The scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Its pieces, in order; never empty.
    pub pieces: Vec<Piece>,
    per_us: f64,
}

impl Scale {
    /// A scale for what happens in `busy` (stretches in any order), up to `now_us`. Gaps that would be wider
    /// than `collapse` pixels are collapsed.
    pub fn new(busy: &[(u64, u64)], origin_us: u64, now_us: u64, px_per_s: f64, collapse: f64) -> Scale {
        let per_us = px_per_s / 1e6;
        let before = (BEFORE / per_us) as u64;
        let after = (AFTER / per_us) as u64;
        // Stretches with room around them, joined where they touch.
        let mut starts: Map<u64, u64> = Map::new();
        for (from, to) in busy {
            let from = from.saturating_sub(before).max(origin_us);
            let to = to.saturating_add(after);
            let end = starts.or_default(from);
            *end = (*end).max(to);
        }
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in starts {
            match joined.last_mut() {
                Some(last) if (from.saturating_sub(last.1)) as f64 * per_us <= collapse.max(GAP) => {
                    last.1 = last.1.max(to);
                }
                _ => joined.push((from, to)),
            }
        }
        if joined.is_empty() {
            joined.push((origin_us, origin_us));
        }
        let mut pieces = Vec::with_capacity(joined.len() * 2);
        let mut x = 0.0;
        let mut last_to: Option<u64> = None;
        for (from, to) in joined {
            if let Some(last) = last_to {
                pieces.push(Piece { from_us: last, to_us: from, x, x_to: x + GAP, gap: true });
                x += GAP;
            }
            let width = (to - from) as f64 * per_us;
            pieces.push(Piece { from_us: from, to_us: to, x, x_to: x + width, gap: false });
            x += width;
            last_to = Some(to);
        }
        // The present: a gap that is still open collapses as well once it is long enough.
        if let Some(last) = last_to
            && now_us > last
        {
            let width = (now_us - last) as f64 * per_us;
            let gap = width > collapse.max(GAP);
            let x_to = if gap { x + GAP } else { x + width };
            pieces.push(Piece { from_us: last, to_us: now_us, x, x_to, gap });
        }
        Scale { pieces, per_us }
    }

    /// A scale without gaps, on which that stretch has that width.
    pub fn linear(from_us: u64, to_us: u64, width: f64) -> Scale {
        let per_us = width / to_us.saturating_sub(from_us).max(1) as f64;
        Scale { pieces: vec![Piece { from_us, to_us, x: 0.0, x_to: width, gap: false }], per_us }
    }

    /// Where a moment is.
    pub fn x(&self, at_us: u64) -> f64 {
        let i = self.pieces.partition_point(|piece| piece.to_us < at_us).min(self.pieces.len() - 1);
        let piece = &self.pieces[i];
        if piece.gap {
            let part = at_us.saturating_sub(piece.from_us) as f64 / (piece.to_us - piece.from_us).max(1) as f64;
            piece.x + part.min(1.0) * (piece.x_to - piece.x)
        } else {
            piece.x + (at_us as f64 - piece.from_us as f64) * self.per_us
        }
    }

    /// Which moment is at a place.
    pub fn at(&self, x: f64) -> u64 {
        let i = self.pieces.partition_point(|piece| piece.x_to < x).min(self.pieces.len() - 1);
        let piece = &self.pieces[i];
        let at = if piece.gap {
            let part = ((x - piece.x) / (piece.x_to - piece.x)).clamp(0.0, 1.0);
            piece.from_us as f64 + part * (piece.to_us - piece.from_us) as f64
        } else {
            piece.from_us as f64 + (x - piece.x) / self.per_us
        };
        at.max(0.0) as u64
    }

    /// Pixels between two ticks, in microseconds: 1-2-5 steps, at least 60 pixels apart.
    pub fn tick_us(&self) -> u64 {
        let least = 60.0 / self.per_us;
        let mut step = 1000;
        loop {
            for factor in [1, 2, 5] {
                if (step * factor) as f64 >= least {
                    return step * factor;
                }
            }
            step *= 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000;

    fn scale(now_us: u64) -> Scale {
        Scale::new(&[(S, 2 * S), (12 * S, 13 * S)], 0, now_us, 300.0, 130.0)
    }

    #[test]
    fn a_long_gap_collapses_and_a_short_one_does_not() {
        let scale = scale(13 * S);
        assert_eq!(scale.pieces.iter().filter(|piece| piece.gap).count(), 1);
        assert!(scale.x(12 * S) - scale.x(2 * S) < 200.0);
        let near = Scale::new(&[(S, 2 * S), (S * 5 / 2, 3 * S)], 0, 3 * S, 300.0, 130.0);
        assert!(near.pieces.iter().all(|piece| !piece.gap));
        assert!((near.x(3 * S) - near.x(2 * S) - 300.0).abs() < 0.01, "linear outside gaps");
    }

    #[test]
    fn places_and_moments_are_each_others_inverse() {
        let scale = scale(14 * S);
        for at in [S, S + 250_000, 2 * S, 5 * S, 12 * S, 13 * S, 13 * S + 400_000] {
            let back = scale.at(scale.x(at));
            assert!(back.abs_diff(at) < 2000, "{at} came back as {back}");
        }
    }

    #[test]
    fn what_was_placed_stays_there_while_time_goes_on() {
        let (early, late) = (scale(13 * S), scale(40 * S));
        for at in [S, 2 * S, 12 * S, 13 * S] {
            assert_eq!(early.x(at), late.x(at));
        }
        assert!(late.x(40 * S) - late.x(13 * S) < 200.0, "an idle present collapses");
    }

    #[test]
    fn places_never_go_back() {
        let scale = scale(20 * S);
        let places: Vec<f64> = (0..200).map(|i| scale.x(i * 100_000)).collect();
        assert!(places.is_sorted());
    }

    #[test]
    fn an_empty_run_has_a_scale() {
        let scale = Scale::new(&[], 7 * S, 7 * S, 300.0, 130.0);
        assert_eq!(scale.x(7 * S), 0.0);
        assert_eq!(scale.at(0.0), 7 * S);
    }
}
