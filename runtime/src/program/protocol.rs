//! What only rustc can put together about distributed shared memory: the macro sees one function at a time, and leaves
//! each a [`Protocol`] for its callers, and its own questions about those that it calls. Everything here runs at
//! compile time. The analysis itself is the macro's (`check/dsm`).

/// What a caller must know of a function.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    /// One bit each: 1 it touches a peer's memory before it has waited at a barrier of the cluster; 2 it may return
    /// without having waited at one; 4 or without having arrived at one; 8 it may have touched a peer's memory after its
    /// last arrival; 16 its own shared memory does not stand a second call without a barrier between; 32
    /// it may return without a barrier that orders what came before it.
    pub does: u8,
    /// What it does to the memory that it is given, by the parameters' positions: reads, writes, atomic reads and other
    /// atomic operations, one bit each; first before it has waited, then with no barrier after it, then with nothing
    /// after it but an arrival that its caller waits for before it. That is to memory of its own block; sixteen bits on, the
    /// same to that of a peer.
    pub params: &'static [u32],
    /// Pairs of parameters that must not be one piece of memory, one bit each: see `pair`.
    pub clashes: u128,
    /// Of memory that it touches in one row alone, by the parameters' positions: one more than that of the parameter that
    /// says which, or 0.
    pub rows: &'static [u8],
}

/// A row of memory that a call is given: of which parameter, and which other one says it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The call, by its place in the table of callees.
    pub call: usize,
    /// The memory.
    pub param: usize,
    /// The number of the row.
    pub by: usize,
}

/// The bit of a pair of parameters, the lower one first. Those behind the eleventh are not told apart.
const fn pair(first: usize, second: usize) -> u128 {
    const MOST: usize = 11;
    if second < MOST { 1 << (first * MOST + second) } else { 1 << 127 }
}

/// Something about a call, by its place in the table of callees.
#[derive(Debug, Clone, Copy)]
pub enum Has {
    /// The function does one of these.
    Does(usize, u8),
    /// It does one of these to its parameter of this position.
    Uses(usize, usize, u32),
    /// It does what must not be at once to these two parameters, if they are one.
    Clashes(usize, usize, usize),
    /// Not all is done in this row, and the other one if there are two.
    Beyond(Row, Option<Row>),
}

/// It is so if all of `when` hold, and all of `unless` do what is said.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// What must hold.
    pub when: &'static [Has],
    /// Functions that come between, and what each must do for it not to matter.
    pub unless: &'static [(usize, u8)],
}

/// What a function does, if it is so.
#[derive(Debug, Clone, Copy)]
pub enum Gives {
    /// Bits of `Protocol::does`.
    Does(u8),
    /// Bits of its parameter of this position.
    Uses(usize, u32),
    /// These two parameters, if they are one.
    Clashes(usize, usize),
    /// Its parameter `own` is the parameter `param` of a call: the same bits.
    Passes {
        /// The function's own parameter, by its position.
        own: usize,
        /// The call.
        call: usize,
        /// The callee's parameter.
        param: usize,
        /// The bits.
        mask: u32,
    },
}

impl Protocol {
    /// Of a function that has faults: asks for nothing, and lacks nothing.
    pub const UNKNOWN: Protocol = Protocol { does: 0, params: &[], clashes: 0, rows: &[] };

    const fn uses(self, param: usize) -> u32 {
        if param < self.params.len() { self.params[param] } else { 0 }
    }
}

impl Row {
    const fn has_all(self, callees: &[Protocol]) -> bool {
        let rows = callees[self.call].rows;
        self.param < rows.len() && rows[self.param] as usize == self.by + 1
    }
}

impl Case {
    const fn is_so(self, callees: &[Protocol]) -> bool {
        let mut at = 0;
        while at < self.when.len() {
            let holds = match self.when[at] {
                Has::Does(call, does) => callees[call].does & does != 0,
                Has::Uses(call, param, uses) => callees[call].uses(param) & uses != 0,
                Has::Clashes(call, first, second) => callees[call].clashes & pair(first, second) != 0,
                Has::Beyond(row, None) => !row.has_all(callees),
                Has::Beyond(row, Some(other)) => !(row.has_all(callees) && other.has_all(callees)),
            };
            if !holds {
                return false;
            }
            at += 1;
        }
        let mut at = 0;
        while at < self.unless.len() {
            let (call, does) = self.unless[at];
            if callees[call].does & does == 0 {
                return false;
            }
            at += 1;
        }
        true
    }
}

/// What a function does: `Protocol::does`.
pub const fn does(gives: &[(Gives, Case)], callees: &[Protocol]) -> u8 {
    let mut all = 0;
    let mut at = 0;
    while at < gives.len() {
        if let (Gives::Does(does), case) = gives[at]
            && case.is_so(callees)
        {
            all |= does;
        }
        at += 1;
    }
    all
}

/// What it does to each of its parameters: `Protocol::params`.
pub const fn params<const N: usize>(gives: &[(Gives, Case)], callees: &[Protocol]) -> [u32; N] {
    let mut params = [0; N];
    let mut at = 0;
    while at < gives.len() {
        let (gives, case) = gives[at];
        if case.is_so(callees) {
            match gives {
                Gives::Does(_) | Gives::Clashes(..) => {}
                Gives::Uses(param, uses) => params[param] |= uses,
                Gives::Passes { own, call, param, mask } => params[own] |= callees[call].uses(param) & mask,
            }
        }
        at += 1;
    }
    params
}

/// Which of its parameters must not be one: `Protocol::clashes`.
pub const fn clashes(gives: &[(Gives, Case)], callees: &[Protocol]) -> u128 {
    let mut all = 0;
    let mut at = 0;
    while at < gives.len() {
        if let (Gives::Clashes(first, second), case) = gives[at]
            && case.is_so(callees)
        {
            all |= pair(first, second);
        }
        at += 1;
    }
    all
}

/// Refuses, at compile time, what is so.
#[track_caller]
pub const fn refuse(case: Case, callees: &[Protocol], message: &str) {
    if case.is_so(callees) {
        panic!("{}", message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS_FIRST: Protocol = Protocol { does: 1, params: &[1], ..Protocol::UNKNOWN };
    const SYNCS: Protocol = Protocol { params: &[0x10], ..Protocol::UNKNOWN };
    const PLAIN: Protocol = Protocol { does: 2 | 4, ..Protocol::UNKNOWN };

    fn case(when: &'static [Has], unless: &'static [(usize, u8)]) -> Case {
        Case { when, unless }
    }

    #[test]
    fn all_that_is_asked_holds_and_nothing_comes_between() {
        let callees = [READS_FIRST, SYNCS, PLAIN];
        assert!(case(&[], &[]).is_so(&callees));
        assert!(case(&[Has::Does(0, 1), Has::Uses(1, 0, 0xf0)], &[]).is_so(&callees));
        assert!(!case(&[Has::Does(0, 1), Has::Uses(1, 0, 0x0f)], &[]).is_so(&callees));
        assert!(!case(&[Has::Uses(2, 7, 0xf)], &[]).is_so(&callees), "a function that has faults has no parameters");
        assert!(case(&[], &[(2, 2)]).is_so(&callees), "it may not have waited");
        assert!(!case(&[], &[(2, 2), (1, 2)]).is_so(&callees), "one of the two has");
    }

    #[test]
    fn what_callers_learn() {
        let callees = [READS_FIRST, SYNCS, PLAIN];
        let gives = [
            (Gives::Does(8), case(&[], &[(1, 4)])),
            (Gives::Does(1), case(&[Has::Does(0, 1)], &[])),
            (Gives::Uses(1, 2), case(&[], &[])),
            (Gives::Passes { own: 0, call: 1, param: 0, mask: 0xf0 }, case(&[], &[(2, 2)])),
            (Gives::Passes { own: 0, call: 0, param: 0, mask: 0x0f }, case(&[], &[(1, 2)])),
        ];
        assert_eq!(does(&gives, &callees), 1);
        assert_eq!(params::<2>(&gives, &callees), [0x10, 2]);
    }

    #[test]
    fn pairs_of_parameters() {
        let callee = Protocol { clashes: clashes(&[(Gives::Clashes(0, 2), case(&[], &[]))], &[]), ..PLAIN };
        assert!(case(&[Has::Clashes(0, 0, 2)], &[]).is_so(&[callee]));
        assert!(!case(&[Has::Clashes(0, 0, 1)], &[]).is_so(&[callee]));
        // No bit is that of two pairs, up to what it can tell apart.
        let pairs: Vec<u128> = (0..11).flat_map(|second| (0..second).map(move |first| pair(first, second))).collect();
        assert_eq!(pairs.iter().fold(0, |all: u128, pair| all | pair).count_ones() as usize, pairs.len());
        assert_eq!(pair(0, 11), pair(3, 40));
    }

    #[test]
    fn rows_of_parameters() {
        const OF_ROW: Protocol = Protocol { rows: &[0, 3], ..PLAIN };
        const ROW: Row = Row { call: 0, param: 1, by: 2 };
        const OTHERS: [Row; 4] =
            [Row { by: 1, ..ROW }, Row { param: 0, ..ROW }, Row { param: 7, ..ROW }, Row { call: 1, ..ROW }];
        const BEYOND: [[Has; 2]; 4] = {
            let mut beyond = [[Has::Beyond(ROW, None); 2]; 4];
            let mut at = 0;
            while at < beyond.len() {
                beyond[at] = [Has::Beyond(OTHERS[at], None), Has::Beyond(ROW, Some(OTHERS[at]))];
                at += 1;
            }
            beyond
        };
        let callees = [OF_ROW, PLAIN];
        assert!(!case(&[Has::Beyond(ROW, None)], &[]).is_so(&callees));
        assert!(!case(&[Has::Beyond(ROW, Some(ROW))], &[]).is_so(&callees));
        for has in &BEYOND {
            assert!(case(has, &[]).is_so(&callees), "{has:?}");
        }
    }

    #[test]
    #[should_panic(expected = "not so")]
    fn what_is_so_is_refused() {
        refuse(case(&[], &[]), &[], "not so");
    }
}
