//! Where everything on the map stands, in pixels. A function of the width, the replicas and whether there is
//! a failover pair.

use locks::ids::Endpoint;

use crate::stage::Stage;

/// From this width on three cards stand side by side: as `card.css` has it.
const THREE: i32 = 700;
/// From this width on four do: as `card.css` has it.
const FOUR: i32 = 930;
/// Below this width the map is a phone's.
const SMALL: i32 = 560;
/// Between groups of stores, and between Redis nodes; on a phone half of it.
const GAPS: (i32, i32) = (12, 4);

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left.
    pub x: i32,
    /// Top.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
}

impl Area {
    /// Do two overlap?
    pub fn meets(self, other: Area) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }

    /// The middle, across.
    pub fn middle(self) -> i32 {
        self.x + self.w / 2
    }
}

/// A line from a replica to a store, or between the two nodes of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Where it begins.
    pub from: (i32, i32),
    /// Where it ends.
    pub to: (i32, i32),
}

impl Curve {
    /// As the `d` of a path.
    pub fn path(self) -> String {
        let ((x0, y0), (x1, y1)) = (self.from, self.to);
        let bend = (y1 - y0) / 2;
        format!("M{x0} {y0}C{x0} {} {x1} {} {x1} {y1}", y0 + bend, y1 - bend)
    }

    /// The point at a part of the way.
    pub fn at(self, part: f64) -> (i32, i32) {
        let (t, u) = (part, 1.0 - part);
        let ((x0, y0), (x1, y1)) = (self.from, self.to);
        let eased = t * t * (3.0 - 2.0 * t);
        let down = 1.5 * t * u + t * t * t;
        (x0 + (f64::from(x1 - x0) * eased) as i32, y0 + (f64::from(y1 - y0) * down) as i32)
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
    /// It is a phone's.
    pub small: bool,
    /// Replicas, with the stretch that their links begin from.
    pub replicas: Vec<(String, Area)>,
    /// Replicas are drawn here too: their cards do not stand in one row above.
    pub ports: bool,
    /// Stores.
    pub stores: Vec<(Endpoint, Area)>,
}

impl Geometry {
    /// For a stage, as wide as that.
    pub fn new(stage: &Stage, width: i32) -> Geometry {
        let names: Vec<&String> = stage.replicas.keys().collect();
        let (count, small) = (names.len() as i32, width < SMALL);
        let ports = !(count <= 3 && width >= THREE || count == 4 && width >= FOUR);
        let (columns, gap) = match (ports, count) {
            (false, 4) => (4, 8),
            (false, _) => (3, 16),
            (true, _) => (count.max(1), if small { 4 } else { 8 }),
        };
        let top = match (ports, small) {
            (false, _) => 0,
            (true, false) => 28,
            (true, true) => 36,
        };
        let column = (width - gap * (columns - 1)) / columns;
        let place = |at: usize| Area { x: at as i32 * (column + gap), y: 0, w: column, h: top };
        let replicas = names.into_iter().cloned().enumerate().map(|(at, name)| (name, place(at))).collect();

        let links = if small { 104 } else { 108 + 6 * (count - 3).clamp(0, 6) };
        let y = top + links;
        let h = if small { 50 } else { 46 };
        // Widths in parts: a Redis node has 10, the others what is left.
        let (node, other) = if small { (11, 13) } else { (10, 17) };
        let (wide, near) = if small { (GAPS.0 / 2, GAPS.1 / 2) } else { GAPS };
        let free = width - 4 * near - 2 * wide;
        let unit = |parts: i32| free * parts / (5 * node + 2 * other);
        let mut stores = Vec::new();
        let mut x = 0;
        for number in 1..=Endpoint::REDIS_NODES {
            stores.push((Endpoint::Redis(number), Area { x, y, w: unit(node), h }));
            x += unit(node) + near;
        }
        x += wide - near;
        stores.push((Endpoint::Postgres, Area { x, y, w: unit(other), h }));
        x += unit(other) + wide;
        stores.push((Endpoint::Bank, Area { x, y, w: width - x, h }));
        let mut height = y + h;
        for store in &stage.topology.stores {
            if let Endpoint::RedisReplica(number) = store.endpoint
                && let Some((_, of)) = stores.iter().find(|(endpoint, _)| *endpoint == Endpoint::Redis(number)).copied()
            {
                stores.push((store.endpoint, Area { y: y + h + 34, ..of }));
                height = y + h + 34 + h;
            }
        }
        Geometry { width, height, small, replicas, ports, stores }
    }

    /// Where a store stands.
    pub fn store(&self, endpoint: Endpoint) -> Option<Area> {
        self.stores.iter().find(|(of, _)| *of == endpoint).map(|(_, area)| *area)
    }

    /// The line of a link. Those of one replica begin side by side in the order of the stores, those of one
    /// store end side by side in the order of the replicas.
    pub fn curve(&self, replica: &str, endpoint: Endpoint) -> Option<Curve> {
        let to = self.store(endpoint)?;
        if let Endpoint::RedisReplica(number) = endpoint {
            let of = self.store(Endpoint::Redis(number))?;
            return Some(Curve { from: (of.middle(), of.y + of.h), to: (to.middle(), to.y) });
        }
        let at = self.replicas.iter().position(|(name, _)| name == replica)?;
        let from = self.replicas[at].1;
        let slot = Endpoint::of_replicas().position(|of| of == endpoint)? as i32;
        // Postgres comes first in the list and sixth on the map.
        let slot = match slot {
            0 => 5,
            6 => 6,
            node => node - 1,
        };
        let step = (from.w / 9).min(26);
        let count = self.replicas.len() as i32;
        Some(Curve {
            from: (from.middle() + (slot - 3) * step, from.y + from.h),
            to: (to.x + to.w * (at as i32 + 1) / (count + 1), to.y),
        })
    }
}
