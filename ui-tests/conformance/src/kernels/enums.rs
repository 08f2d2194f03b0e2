//! Enums whose variants have fields: how they are made, matched, compared, changed, kept in arrays and passed on.

use super::twins::twins;

twins! {
    enums;
    uses {
        use phalanx::prelude::*;

        use self::Step::{Jump as Leap, *};

        #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
        pub(super) enum Event {
            Hit { t: f32, id: u32 },
            Lost(i32, bool),
            Miss,
            Pair([i32; 2], (u8, i64)),
        }

        /// It is not compared.
        #[derive(Clone, Copy, DeviceType)]
        pub(super) enum Step {
            Stay,
            Walk(i32),
            Jump { far: i32 },
            Twice,
        }

        #[derive(Clone, Copy, PartialEq, DeviceType)]
        pub(super) enum Nested {
            Of(Event),
            Way(Kind, Corner),
            None,
        }

        #[derive(Clone, Copy, PartialEq, DeviceType)]
        pub(super) enum Only {
            One { value: i32 },
        }

        #[derive(Clone, Copy, PartialEq, DeviceCopy)]
        #[repr(u8)]
        pub(super) enum Kind { Low, High = 7 }

        #[derive(Clone, Copy, PartialEq, DeviceCopy)]
        #[repr(C)]
        pub(super) struct Corner { x: i32, y: i32 }

        const START: Event = Event::Hit { t: 2.0, id: 3 };
        const TABLE: [Event; 4] = [Event::Miss, Event::Lost(4, true), START, Event::Pair([5, -6], (7, 8))];

        #[device]
        impl Event {
            const EMPTY: Self = Self::Lost(0, false);

            fn of(x: i32) -> Self {
                match x.rem_euclid(4) {
                    0 => Self::Hit { t: x as f32 * 0.5, id: x as u32 },
                    1 => Self::Lost(-x, x > 3),
                    2 => Self::Miss,
                    _ => Self::Pair([x, x + 1], (x as u8, i64::from(x) * 3)),
                }
            }
            fn weight(&self) -> i32 {
                match self {
                    Event::Hit { t, .. } => *t as i32 + 1,
                    Event::Lost(n, true) => *n * 2,
                    Event::Lost(n, _) => *n,
                    Event::Miss => 40,
                    Self::Pair(both, (small, wide)) => both[0] + 3 * both[1] + *small as i32 + *wide as i32,
                }
            }
            fn is_hit(self) -> bool {
                matches!(self, Self::Hit { .. })
            }
            fn age(&mut self, by: i32) {
                *self = match *self {
                    Event::Hit { t, id } => Event::Hit { id: id + by as u32, t: t - by as f32 },
                    Event::Lost(n, seen) if !seen => Event::Lost(n + by, true),
                    Event::Lost(..) => Event::Miss,
                    other => other,
                };
            }
        }
    }
    helpers {
        fn moved(at: i32, step: Step) -> i32 {
            match step {
                Stay => at,
                Walk(by) if by > 5 => at + 5,
                Walk(by) => at + by,
                Leap { far } => at * far,
                Step::Twice => at * 2,
            }
        }
        fn step_of(x: i32, y: i32) -> Option<Step> {
            if x == y {
                return None;
            }
            Some(if x < 0 { Stay } else if y > 4 { Walk(x + y) } else if x > 9 { Step::Twice } else { Leap { far: y } })
        }
        fn next(event: Event, n: i32) -> Result<Event, i32> {
            match event {
                Event::Hit { id, .. } if id > 8 => Err(n),
                Event::Hit { t, id } => Ok(Event::Hit { t: t + n as f32, id: id + 1 }),
                Event::Miss => Ok(Event::EMPTY),
                _ => Ok(Event::Miss),
            }
        }
        fn nested(x: i32, y: i32) -> Nested {
            if x > y { Nested::Of(Event::of(x)) }
            else if x == y { Nested::None }
            else { Nested::Way(if y > 3 { Kind::High } else { Kind::Low }, Corner { x, y }) }
        }
    }

    fn made_and_matched(x: i32, y: i32) -> i32 {
        let a = Event::of(x);
        let b = match a {
            Event::Hit { t, id } => t as i32 * 3 + id as i32,
            Event::Lost(n, seen) => n * 5 + seen as i32,
            Event::Miss => -7,
            Event::Pair([p, q], (r, s)) => p + q * 2 + r as i32 * 3 + s as i32,
        };
        let c = if let Event::Hit { t: time, id: 4 } = a { time as i32 } else { 100 };
        let d = if let Event::Lost(n @ -5..=1, false) = a && y > 2 { n } else { 200 };
        let Event::Pair(both, _) = Event::of(y) else { return b + c * 2 + d * 3 };
        b + c * 2 + d * 3 + both[(x & 1) as usize] * 1000
    }
    fn by_methods(x: i32, y: i32) -> i32 {
        let mut event = Event::of(x);
        let before = event.weight();
        event.age(y);
        let after = event.weight() * 3;
        event.age(1);
        before + after + event.weight() * 7 + event.is_hit() as i32 * 1000 + Event::of(x + y).weight()
    }
    fn compared(x: i32, y: i32) -> i32 {
        let (a, b) = (Event::of(x), Event::of(y));
        let c = (a == b) as i32 + 2 * (a != Event::of(y + 4)) as i32 + 4 * (a == Event::Miss) as i32;
        let d = 8 * (nested(x, y) == nested(y, x)) as i32 + 16 * (Some(a) == Some(START)) as i32;
        let e = 32 * (b == TABLE[(x & 3) as usize]) as i32 + 64 * ([a, b] == [Event::of(3), Event::of(5)]) as i32;
        let f = match a { Event::EMPTY => 128, START => 256, Event::Miss | Event::Lost(..) => 512, _ => 1024 };
        c + d + e + f + 2048 * matches!(Event::Hit { t: 2.0, id: x as u32 }, START) as i32
    }
    fn imported(x: i32, y: i32) -> i32 {
        let mut at = x;
        for i in 0..4 {
            let Some(step) = step_of(at % 13, y + i) else { break };
            at = moved(at, step);
            if let Walk(by) = step {
                at -= by / 3;
            }
        }
        at + moved(y, Stay) + moved(3, Step::Walk(x)) + moved(2, Step::Jump { far: y })
    }
    fn assigned_in_loops(x: i32, y: i32) -> i32 {
        let mut best = Event::Miss;
        let mut log = [Event::Miss; 5];
        for i in 0..5 {
            let event = Event::of(x + i * y);
            log[i as usize] = event;
            best = match (best, event) {
                (Event::Miss, other) => other,
                (Event::Hit { t: old, .. }, Event::Hit { t, id }) if t > old => Event::Hit { t, id: id + 1 },
                (kept, Event::Miss) | (kept, Event::Pair(..)) => kept,
                (Event::Lost(a, p), Event::Lost(b, q)) => Event::Lost(a.max(b), p ^ q),
                (_, Event::Lost(n, _)) => Event::Lost(n, true),
                (kept, _) => kept,
            };
        }
        let hits = log.iter().filter(|event| event.is_hit()).count() as i32;
        let sum: i32 = log.iter().map(|event| event.weight()).sum();
        let mut second = log[1];
        second.age(2);
        log[1] = second;
        let last = match log[1] { Event::Lost(n, _) => n, Event::Hit { id, .. } => id as i32, _ => 0 };
        best.weight() + hits * 100 + sum * 3 + last * 7
    }
    fn results_and_options(x: i32, y: i32) -> i32 {
        let mut event = TABLE[(x & 3) as usize];
        let mut steps = 0;
        let end = loop {
            event = match next(event, y) {
                Ok(event) if steps < 6 => event,
                Ok(event) => break event.weight(),
                Err(n) => break n - 1000,
            };
            steps += 1;
        };
        let found = (0..6).map(|i| Event::of(x + i)).find(|event| matches!(event, Event::Lost(n, _) if *n < y));
        let of = found.map_or(5, |event| if let Event::Lost(n, _) = event { n } else { 6 });
        let maybe = step_of(x, y).map(|step| moved(x, step)).unwrap_or(-9);
        end + steps * 10 + of * 3 + maybe
    }
    fn within_others(x: i32, y: i32) -> i32 {
        let a = match nested(x, y) {
            Nested::Of(Event::Hit { t, id }) => t as i32 + id as i32,
            Nested::Of(inner @ Event::Lost(n, _)) => inner.weight() + n,
            Nested::Of(other) => other.weight(),
            Nested::Way(Kind::High, Corner { x, .. }) => x * 11,
            Nested::Way(kind, corner) => corner.y * 13 + kind as i32,
            Nested::None => 77,
        };
        let Only::One { value } = Only::One { value: x - y };
        let pair = (Event::of(x), Event::of(y));
        let b = match pair {
            (Event::Miss, Event::Miss) => 1,
            (Event::Lost(p, _), Event::Hit { id, .. }) | (Event::Hit { id, .. }, Event::Lost(p, _)) => p + id as i32,
            (first, _) => first.weight(),
        };
        a + value * 3 + b * 5
    }
    fn by_references(x: i32, y: i32) -> i32 {
        let events = [Event::of(x), Event::of(y), Event::of(x * y)];
        let mut total = 0;
        for event in &events {
            if let Event::Lost(n, _) = event {
                total += n;
            }
            total += match event {
                Event::Hit { t, id } if *id > 2 => *t as i32,
                Event::Pair([a, _], _) => *a,
                _ => 1,
            };
        }
        for (i, &event) in events.iter().enumerate() {
            if let Event::Pair(_, (_, wide)) = event { total += wide as i32 * i as i32; }
        }
        let only = Only::One { value: total };
        let Only::One { value } = &only;
        *value + events.iter().filter(|&&event| event == Event::Miss).count() as i32
    }
}
